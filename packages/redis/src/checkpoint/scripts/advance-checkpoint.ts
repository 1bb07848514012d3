import { luaScript } from '../../connection/lua-script.ts'
import type { LuaScript } from '../../connection/lua-script.ts'
import { writeVocabularyLua } from './write-vocabulary.ts'

/**
 * One fenced script: checks, data, quarantine, then checkpoint and witness.
 *
 * KEYS: meta (or the checkpoint again, where meta is out of reach and not compared), checkpoint, fence, witness,
 * quarantine, data keys.
 * ARGV: 1 nonce, 2-6 identity, 7 partition, 8 from, 9 to, 10 witness or '', 11 'data' or 'last', 12 run id or '',
 * 13 number of quarantine entries, 14 program, 15 the values of the data as a JSON array of strings, then offset and entry
 * per quarantined record.
 * Reply: ['advanced'] | ['resent'] | ['written'] (a 'data' script) | ['process', run id] | ['fenced', found]
 *   | ['conflict', key, field, expected, found] | ['wrongtype', key, type] | ['notanumber', key, value].
 * Offsets are compared as strings. Fields in the order of writing are compared in one pass, others by name. Lua does not roll back, so everything that can be checked is checked before the
 * first write, and the checkpoint comes last.
 */
export const advanceCheckpointScript: LuaScript = luaScript(
  'advance-checkpoint',
  `${writeVocabularyLua}
local meta, checkpoint, fence, witness, quarantine = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
if ARGV[12] ~= '' then
  local runId = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
  if runId ~= ARGV[12] then return {'process', runId or ''} end
end
local held = redis.pcall('GET', fence)
if type(held) == 'table' then return refusal(fence, held) end
if not held or string.match(held, '^[1-9]%d*:(%x+)$') ~= ARGV[1] then return {'fenced', held} end
local fields = {'format_version', 'dispatch_topic', 'partition_count', 'cluster_id', 'topic_id', 'partition', 'next_offset'}
local function compare(key, count)
  local all = redis.pcall('HGETALL', key)
  if all.err then return refusal(key, all) end
  local isAsWritten = #all == 2 * count
  for i = 1, count do
    if not isAsWritten or all[2 * i - 1] ~= fields[i] or (i < 7 and all[2 * i] ~= ARGV[i + 1]) then
      isAsWritten = false
      break
    end
  end
  if isAsWritten then return nil, all[14] end
  local found = {}
  for i = 1, #all, 2 do found[all[i]] = all[i + 1] end
  for i = 1, math.min(count, 6) do
    if found[fields[i]] ~= ARGV[i + 1] then return {'conflict', key, fields[i], ARGV[i + 1], found[fields[i]] or false} end
  end
  if #all ~= 2 * count then return {'conflict', key, 'number of fields', tostring(count), tostring(#all / 2)} end
  return nil, found.next_offset
end
local refused, nextOffset
if meta ~= checkpoint then
  refused = compare(meta, 5)
  if refused then return refused end
end
refused, nextOffset = compare(checkpoint, 7)
if refused then return refused end
if nextOffset ~= ARGV[8] then
  if nextOffset == ARGV[9] then
    local stored = redis.pcall('GET', witness)
    if type(stored) == 'table' then return refusal(witness, stored) end
    if ARGV[10] == '' or stored == ARGV[10] then return {'resent'} end
    return {'conflict', witness, 'witness', ARGV[10], stored}
  end
  return {'conflict', checkpoint, 'next_offset', ARGV[8], nextOffset or false}
end
local runs
refused, runs = check(ARGV[14], 6)
if refused then return refused end
local entries = tonumber(ARGV[13])
if entries > 0 then
  local found = redis.call('TYPE', quarantine).ok
  if found ~= 'none' and found ~= 'hash' then return {'wrongtype', quarantine, found} end
end
if #runs > 0 then apply(runs, 6, cjson.decode(ARGV[15])) end
for i = 1, entries do redis.call('HSET', quarantine, ARGV[14 + 2 * i], ARGV[15 + 2 * i]) end
if ARGV[11] ~= 'last' then return {'written'} end
redis.call('HSET', checkpoint, 'next_offset', ARGV[9])
if ARGV[10] ~= '' then redis.call('SET', witness, ARGV[10]) end
return {'advanced'}
`,
)
