// Commits transactions over two partitions, aborts every third, until it is killed; says of each when it was confirmed.
import { writeSync } from 'node:fs'
import { createEmbeddedProducer } from '@tidemark/embedded'

const directory = process.argv[2]!
const first = Number(process.argv[3])
const producer = await createEmbeddedProducer({ directory, durability: 'fsync', segmentBytesMax: 2048 })
if ((await producer.describeTopic('t')) === undefined) await producer.createTopic('t', { partitionCount: 2 })
for (let number = first; ; number += 1) {
  const transaction = producer.beginTransaction()
  const records = [0, 1].map((partition) => ({ partition, value: Buffer.from(String(number)) }))
  await transaction.append('t', records)
  if (number % 3 === 2) await transaction.abort()
  else await transaction.commit()
  writeSync(1, `${number}\n`)
}
