/**
 * Lua for the write vocabulary, shared by the scripts that write data.
 *
 * A program is a text of runs `<letter><mark><count>;`: mark `!` begins the next data key, `+` stays on it; the count is
 * of groups of values. Pass one checks every key's type and every number before anything is written; pass two writes.
 * A size is asked where a type is meant: the answer is a number, which costs a script less than TYPE's table.
 * `refusal` tells another type from every other error, which goes back to the client as it came.
 * Numbers of writes are Lua numbers, values never: they are strings in JSON, decoded as strings, and go to the command as
 * they came. One argument for all of them costs client and server less than one each.
 */
export const writeVocabularyLua: string = `
local call = redis.call
local probeOf = {G='ZCARD', L='ZCARD', A='ZCARD', Z='ZCARD', S='SCARD', R='SCARD', H='HLEN', D='HLEN', M='GET'}
local width = {G=2, L=2, A=2, Z=1, S=1, R=1, H=2, D=1, W=1, M=1, X=0}
local function refusal(key, reply)
  if string.find(reply.err, 'WRONGTYPE', 1, true) then return {'wrongtype', key, call('TYPE', key).ok} end
  return reply
end
local function isDecimal(text) return text == '0' or string.match(text, '^[1-9]%d*$') ~= nil end
local function isGreater(a, b)
  if #a ~= #b then return #a > #b end
  return a > b
end
local function check(program, firstKey)
  local key, runs, size = firstKey - 1, {}, 0
  for op, mark, digits in string.gmatch(program, '(%a)([!+])(%d+);') do
    local isNewKey = mark == '!'
    runs[size + 1], runs[size + 2], runs[size + 3] = op, isNewKey, tonumber(digits)
    size = size + 3
    if isNewKey then
      key = key + 1
      local probe = probeOf[op]
      if probe then
        local found = redis.pcall(probe, KEYS[key])
        if type(found) == 'table' then return refusal(KEYS[key], found) end
        if op == 'M' and found and not isDecimal(found) then return {'notanumber', KEYS[key], string.sub(found, 1, 64)} end
      end
    end
  end
  return nil, runs
end
local function chunked(values, command, key, mode, from, to, step)
  while from <= to do
    local last = math.min(to, from + step - 1)
    if mode then call(command, key, mode, unpack(values, from, last)) else call(command, key, unpack(values, from, last)) end
    from = last + 1
  end
end
local function apply(runs, firstKey, values)
  local key, arg = firstKey - 1, 1
  for run = 1, #runs, 3 do
    local op, count = runs[run], runs[run + 2]
    if runs[run + 1] then key = key + 1 end
    local name = KEYS[key]
    local last = arg + count * width[op] - 1
    if op == 'G' then
      if count == 1 then call('ZADD', name, 'GT', values[arg], values[last]) else chunked(values, 'ZADD', name, 'GT', arg, last, 1000) end
    elseif op == 'L' then chunked(values, 'ZADD', name, 'LT', arg, last, 1000)
    elseif op == 'A' then chunked(values, 'ZADD', name, nil, arg, last, 1000)
    elseif op == 'Z' then chunked(values, 'ZREM', name, nil, arg, last, 1000)
    elseif op == 'S' then chunked(values, 'SADD', name, nil, arg, last, 1000)
    elseif op == 'R' then chunked(values, 'SREM', name, nil, arg, last, 1000)
    elseif op == 'H' then chunked(values, 'HSET', name, nil, arg, last, 1000)
    elseif op == 'D' then chunked(values, 'HDEL', name, nil, arg, last, 1000)
    elseif op == 'W' then call('SET', name, values[last])
    elseif op == 'X' then call('DEL', name)
    elseif op == 'M' then
      for i = arg, last do
        local held = call('GET', name)
        if held and not isDecimal(held) then error('setIfGreater found another value under ' .. name) end
        if not held or isGreater(values[i], held) then call('SET', name, values[i]) end
      end
    end
    arg = last + 1
  end
end
`
