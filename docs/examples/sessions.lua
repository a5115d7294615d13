-- Answers requests. Each one's visitor is kept, in case it comes again; none is ever forgotten.
local sessions = {}
local last = 0

local function greet(visitor)
  local words = {}
  for word in ("welcome back to the shop " .. visitor):gmatch("%a+") do words[#words + 1] = word:upper() end
  return table.concat(words, " ")
end

local function remember(visitor)
  local session = { visitor = visitor, basket = {} }
  for i = 1, 20 do session.basket[i] = { item = i, price = i * 1.19 } end
  sessions[visitor] = session
end

local function answer()
  last = last + 1
  local visitor = "visitor " .. last
  remember(visitor)
  ngx.say(greet(visitor))
end

return { answer = answer }
