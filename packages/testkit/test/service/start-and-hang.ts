// Run as a process of its own: starts a Redis, says where, and never ends by itself.
import { startRedis } from '@tidemark/testkit/service'

const server = await startRedis()
const { port, dataDirectory: directory } = server
console.log(JSON.stringify({ pid: server.pid(), port, directory }))
setInterval(() => {}, 1_000)
