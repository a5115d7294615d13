-- Programs with known stacks, for lua.py: shapes.lua NAME [ARGUMENT]
local shapes = {}

-- That many hundredths of 104.3 ms: no multiple of a sampling period. The inner loop is compiled.
local function busy(share)
  local finish, n = os.clock() + share * 0.001043, 0
  while os.clock() < finish do
    for i = 1, 100 do n = n + i % 7 end
  end
  return n
end
local function seventy() local n = busy(7) return n end
local function twenty() local n = busy(2) return n end
local function ten() local n = busy(1) return n end

function shapes.shares(seconds)
  local finish = os.clock() + seconds
  while os.clock() < finish do
    seventy()
    twenty()
    ten()
  end
end

shapes[arg[1]](tonumber(arg[2]))
