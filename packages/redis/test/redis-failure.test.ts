import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createSafeRedis } from '@tidemark/redis/checkpoint'
import { failureOf, isScriptMissing } from '../src/connection/redis-failure.ts'

const source = createSafeRedis('redis://user:hunter2@h:1')
const site = { operation: 'advance', command: 'ZADD', key: 'convs:ada' }
const failure = (message: string, more: object = {}) => failureOf(source, site, Object.assign(new Error(message), more))

describe('errors of the server', () => {
  it.each([
    ["OOM command not allowed when used memory > 'maxmemory'.", 'TM_REDIS_OUT_OF_MEMORY', false],
    ["READONLY You can't write against a read only replica.", 'TM_REDIS_READ_ONLY', false],
    ['MISCONF Redis is configured to save RDB snapshots', 'TM_REDIS_PERSISTENCE_FAILED', false],
    ['NOREPLICAS Not enough good replicas to write.', 'TM_REDIS_PERSISTENCE_FAILED', false],
    ['LOADING Redis is loading the dataset in memory', 'TM_REDIS_LOADING', true],
    ['MASTERDOWN Link with MASTER is down', 'TM_REDIS_MASTER_DOWN', true],
    ['CLUSTERDOWN The cluster is down', 'TM_REDIS_CLUSTER_DOWN', true],
    ['TRYAGAIN Multiple keys request during rehashing of slot', 'TM_REDIS_CLUSTER_DOWN', true],
    ['MOVED 3999 127.0.0.1:6381', 'TM_REDIS_CLUSTER_REDIRECT', false],
    ["CROSSSLOT Keys in request don't hash to the same slot", 'TM_REDIS_CLUSTER_REDIRECT', false],
    ['BUSY Redis is busy running a script.', 'TM_REDIS_BUSY', true],
    ["NOPERM this user has no permissions to run the 'zadd' command", 'TM_REDIS_PERMISSION_DENIED', false],
    ["ERR The user executing the script can't run this command or subcommand", 'TM_REDIS_PERMISSION_DENIED', false],
    ["ERR The user executing the script can't access at least one of the keys", 'TM_REDIS_PERMISSION_DENIED', false],
    ['NOAUTH Authentication required.', 'TM_REDIS_AUTH_FAILED', false],
    ['WRONGPASS invalid username-password pair or user is disabled.', 'TM_REDIS_AUTH_FAILED', false],
    ['ERR invalid password', 'TM_REDIS_AUTH_FAILED', false],
    ['WRONGTYPE Operation against a key holding the wrong kind of value', 'TM_REDIS_WRONG_TYPE', false],
    ['NOSCRIPT No matching script. Please use EVAL.', 'TM_REDIS_SCRIPT_MISSING', false],
    ['ERR unknown command', 'TM_REDIS_COMMAND_FAILED', false],
    [
      'ERR Error running script (call to f_ab): @user_script:1: -OOM command not allowed',
      'TM_REDIS_OUT_OF_MEMORY',
      false,
    ],
    ['ERR Error running script: @user_script: 3: WRONGTYPE Operation against a key', 'TM_REDIS_WRONG_TYPE', false],
    ['Connection is closed.', 'TM_REDIS_CONNECTION_LOST', true],
    ["Stream isn't writeable and enableOfflineQueue options is false", 'TM_REDIS_CONNECTION_LOST', true],
    ['Command aborted due to connection close', 'TM_REDIS_CONNECTION_LOST', true],
    ['Command timed out', 'TM_REDIS_TIMEOUT', true],
  ])('[RED-17] %s', (message, code, retriable) => {
    expect(failure(message)).toMatchObject({ code, retriable })
  })

  it('[RED-17] network codes are a lost connection', () => {
    for (const code of ['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND']) {
      expect(failure(`read ${code}`, { code })).toMatchObject({ code: 'TM_REDIS_CONNECTION_LOST' })
    }
  })

  it('[RED-17] the message names operation, command and key, in one line', () => {
    const { message } = failure('OOM command\r\nnot allowed')
    expect(message).toBe('advance: ZADD on "convs:ada" failed: OOM command not allowed')
  })

  it('[RED-3] [CK-39] carries neither the password nor the arguments of the command, however it is printed', () => {
    const error = failure('ERR unknown command HELLO, with args beginning with: hunter2', {
      command: { name: 'auth', args: ['user', 'hunter2'] },
    })
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('hunter2')
    expect(JSON.stringify(error)).not.toContain('hunter2')
  })

  it('[RED-19] only NOSCRIPT makes a script be sent as text', () => {
    expect(isScriptMissing(new Error('NOSCRIPT No matching script.'))).toBe(true)
    expect(isScriptMissing(new Error('ERR something'))).toBe(false)
  })
})
