import { luaScript } from '../../connection/lua-script.ts'
import type { LuaScript } from '../../connection/lua-script.ts'

/**
 * Creates meta (if asked) and checkpoints at offset 0: all or none, only where absent, only under the fences.
 *
 * KEYS: meta, index, incarnation, then checkpoint, fence, witness per partition.
 * ARGV: 1 to create meta, the five identity values, the incarnation nonce, then partition and fence nonce per partition.
 * Reply: ['created'] | ['fenced', partition, found] | ['conflict', key, why] | ['wrongtype', key, type].
 * A stale witness of a lost checkpoint goes: it would lie beyond the new position. Meta is written first, since meta
 * without checkpoints replays, and checkpoints without meta refuse.
 */
export const createCheckpointsScript: LuaScript = luaScript(
  'create-checkpoints',
  `
local fields = {'format_version', 'dispatch_topic', 'partition_count', 'cluster_id', 'topic_id'}
local count = (#KEYS - 3) / 3
local kinds = {'hash', 'string', 'string'}
for i = 1, #KEYS do
  local expected = kinds[(i - 4) % 3 + 1]
  if i == 1 then expected = 'hash' elseif i == 2 then expected = 'set' elseif i == 3 then expected = 'string' end
  local found = redis.call('TYPE', KEYS[i]).ok
  if found ~= 'none' and found ~= expected then return {'wrongtype', KEYS[i], found} end
end
for p = 0, count - 1 do
  local held = redis.call('GET', KEYS[3 * p + 5])
  if not held or string.match(held, '^[1-9]%d*:(%x+)$') ~= ARGV[2 * p + 9] then
    return {'fenced', ARGV[2 * p + 8], held}
  end
end
local stored = redis.call('HMGET', KEYS[1], unpack(fields))
if ARGV[1] == '1' then
  if redis.call('EXISTS', KEYS[1]) == 1 then return {'conflict', KEYS[1], 'meta exists already'} end
else
  for f = 1, 5 do
    if stored[f] ~= ARGV[f + 1] then return {'conflict', KEYS[1], 'meta is not of this log: ' .. fields[f]} end
  end
  if redis.call('HLEN', KEYS[1]) ~= 5 then return {'conflict', KEYS[1], 'meta has other fields'} end
end
for p = 0, count - 1 do
  if redis.call('EXISTS', KEYS[3 * p + 4]) == 1 then return {'conflict', KEYS[3 * p + 4], 'the checkpoint exists already'} end
end
local function create(key, ...)
  redis.call('HSET', key, fields[1], ARGV[2], fields[2], ARGV[3], fields[3], ARGV[4], fields[4], ARGV[5], fields[5], ARGV[6], ...)
end
redis.call('SETNX', KEYS[3], ARGV[7])
if ARGV[1] == '1' then create(KEYS[1]) end
for p = 0, count - 1 do
  redis.call('SADD', KEYS[2], ARGV[3] .. ':' .. ARGV[2 * p + 8])
  redis.call('DEL', KEYS[3 * p + 6])
  create(KEYS[3 * p + 4], 'partition', ARGV[2 * p + 8], 'next_offset', '0')
end
return {'created'}
`,
)
