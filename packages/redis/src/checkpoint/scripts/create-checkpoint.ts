import { luaScript } from '../../connection/lua-script.ts'
import type { LuaScript } from '../../connection/lua-script.ts'

/**
 * Creates one checkpoint at offset 0: only where absent, only under its fence. For clusters, where no script reaches all.
 *
 * KEYS: checkpoint, fence, witness. ARGV: the five identity values, partition, fence nonce.
 * Reply: ['created'] | ['fenced', partition, found] | ['conflict', key, why] | ['wrongtype', key, type].
 */
export const createCheckpointScript: LuaScript = luaScript(
  'create-checkpoint',
  `
local kinds = {'hash', 'string', 'string'}
for i = 1, 3 do
  local found = redis.call('TYPE', KEYS[i]).ok
  if found ~= 'none' and found ~= kinds[i] then return {'wrongtype', KEYS[i], found} end
end
local held = redis.call('GET', KEYS[2])
if not held or string.match(held, '^[1-9]%d*:(%x+)$') ~= ARGV[7] then return {'fenced', ARGV[6], held} end
if redis.call('EXISTS', KEYS[1]) == 1 then return {'conflict', KEYS[1], 'the checkpoint exists already'} end
redis.call('DEL', KEYS[3])
redis.call('HSET', KEYS[1], 'format_version', ARGV[1], 'dispatch_topic', ARGV[2], 'partition_count', ARGV[3],
  'cluster_id', ARGV[4], 'topic_id', ARGV[5], 'partition', ARGV[6], 'next_offset', '0')
return {'created'}
`,
)
