import { luaScript } from '../../connection/lua-script.ts'
import type { LuaScript } from '../../connection/lua-script.ts'

/** A hash of ours has 5 or 7 fields; one with more than this is not read, only reported. */
export const FIELDS_READ_MAX = 64

/**
 * Reads some partitions as of one instant: a live writer cannot move a checkpoint past a witness that was read before.
 *
 * KEYS: checkpoint, fence, witness, quarantine per partition. Reply: [rows, expiring, odd] where a row is
 * [checkpoint fields or nil, fence or nil, witness or nil, quarantined], `expiring` lists the numbers of keys with an
 * expiry, and `odd` lists pairs of key number and what stands there instead. Writes nothing.
 */
export const readPartitionsScript: LuaScript = luaScript(
  'read-partitions',
  `
local rows, expiring, odd = {}, {}, {}
local function read(index, command, expected)
  local reply = redis.pcall(command, KEYS[index])
  if type(reply) == 'table' and reply.err then
    if not string.find(reply.err, 'WRONGTYPE', 1, true) then error(reply.err) end
    odd[#odd + 1] = index
    odd[#odd + 1] = 'a ' .. redis.call('TYPE', KEYS[index]).ok .. ' stands where a ' .. expected .. ' is due'
    return false
  end
  return reply
end
local function readHash(index)
  local length = read(index, 'HLEN', 'hash')
  if not length or length == 0 then return false end
  if length > ${FIELDS_READ_MAX} then
    odd[#odd + 1] = index
    odd[#odd + 1] = 'it has ' .. length .. ' fields'
    return false
  end
  return redis.call('HGETALL', KEYS[index])
end
for base = 0, #KEYS - 4, 4 do
  rows[#rows + 1] = {readHash(base + 1), read(base + 2, 'GET', 'string'), read(base + 3, 'GET', 'string'), read(base + 4, 'HLEN', 'hash') or 0}
end
for i = 1, #KEYS do
  if redis.call('PTTL', KEYS[i]) >= 0 then expiring[#expiring + 1] = i end
end
return {rows, expiring, odd}
`,
)

/**
 * Reads what belongs to the whole namespace, as of one instant.
 *
 * KEYS: meta, incarnation, index. Reply: [meta fields or nil, nonce or nil, index members, expiring, odd].
 */
export const readNamespaceScript: LuaScript = luaScript(
  'read-namespace',
  `
local expiring, odd = {}, {}
local function report(index, problem)
  odd[#odd + 1] = index
  odd[#odd + 1] = problem
end
local expected = {'hash', 'string', 'set'}
local usable = {}
for i = 1, 3 do
  local found = redis.call('TYPE', KEYS[i]).ok
  usable[i] = found == expected[i]
  if not usable[i] and found ~= 'none' then report(i, 'a ' .. found .. ' stands where a ' .. expected[i] .. ' is due') end
  if redis.call('PTTL', KEYS[i]) >= 0 then expiring[#expiring + 1] = i end
end
local meta, nonce, members = false, false, {}
if usable[1] then
  local length = redis.call('HLEN', KEYS[1])
  if length <= ${FIELDS_READ_MAX} then meta = redis.call('HGETALL', KEYS[1]) else report(1, 'it has ' .. length .. ' fields') end
end
if usable[2] then nonce = redis.call('GET', KEYS[2]) end
if usable[3] then
  local size = redis.call('SCARD', KEYS[3])
  if size <= 200000 then members = redis.call('SMEMBERS', KEYS[3]) else report(3, 'it has ' .. size .. ' members') end
end
return {meta, nonce, members, expiring, odd}
`,
)
