import { luaScript } from '../../connection/lua-script.ts'
import type { LuaScript } from '../../connection/lua-script.ts'

/**
 * Takes the fences of some partitions.
 *
 * KEYS: a fence per partition. ARGV: a nonce per fence.
 * Reply: ['claimed', fence...] or ['wrongtype', key, type]. All types are checked before the first write.
 * The epoch is counted on decimal digits, since Lua's numbers are doubles.
 */
export const claimFencesScript: LuaScript = luaScript(
  'claim-fences',
  `
local function increment(digits)
  local head, nines = string.match(digits, '^(.-)(9*)$')
  local zeros = string.rep('0', #nines)
  if head == '' then return '1' .. zeros end
  return string.sub(head, 1, -2) .. string.char(string.byte(head, -1) + 1) .. zeros
end
for i = 1, #KEYS do
  local found = redis.call('TYPE', KEYS[i]).ok
  if found ~= 'none' and found ~= 'string' then return {'wrongtype', KEYS[i], found} end
end
local reply = {'claimed'}
for i = 1, #KEYS do
  local held = redis.call('GET', KEYS[i])
  local epoch = '1'
  if held then
    local digits = string.match(held, '^([1-9]%d*):')
    if digits and #digits < 19 then epoch = increment(digits) end
  end
  local fence = epoch .. ':' .. ARGV[i]
  redis.call('SET', KEYS[i], fence)
  reply[i + 1] = fence
end
return reply
`,
)
