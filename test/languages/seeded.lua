-- As seeded.py, of LuaJIT and Lua: seeded.lua FOLDER SEED COUNT TRIGGER [wait]. Functions in C are not written down. Lua cannot call
-- libc: there the trigger is unlink(2).
local folder, seed, count, trigger = arg[1], tonumber(arg[2]), tonumber(arg[3]), arg[4]
local has_ffi, ffi = pcall(require, "ffi")
local loadstring = loadstring or load
local random = seed

local function chance(n)
  random = (random * 1103515 + 12345) % 2147483648
  return math.floor(random / 256) % n
end

local out
local marks = 0 -- an error may come before the trigger
local resumed = {} -- frames of threads that have resumed another and wait for it

local function frames(level)
  local text = {}
  while true do
    local info = debug.getinfo(level, "Sl")
    if not info then return table.concat(text) end
    if info.what ~= "C" and info.what ~= "tail" then
      local file = info.source:gsub("^[@=]", "")
      local shown = file:match("[^/]*$")
      if not info.source:find("^[@=]") then
        file = info.short_src
        shown = file
      end
      local name = info.linedefined > 0 and shown .. ":" .. info.linedefined or "main chunk " .. shown
      text[#text + 1] = name .. "|" .. file .. "|" .. info.currentline .. "\n"
    end
    level = level + 1
  end
end

local function mark()
  marks = marks + 1
  out:write(frames(3))
  for n = #resumed, 1, -1 do out:write(resumed[n]) end
  out:write("\n")
  return true
end

local go, leaf

local function keep_frames() resumed[#resumed + 1] = frames(3) end

local function inside(thread, ...)
  local _, ok, result = keep_frames(), coroutine.resume(thread, ...)
  resumed[#resumed] = nil
  if not ok then error(result, 0) end
  return result
end

local function recurse(depth)
  if depth > 0 then return 1 + recurse(depth - 1) end
  return leaf()
end

local proxy = setmetatable({}, {
  __index = function(t, depth) return (go(depth)) end,
  __newindex = function(t, depth, value)
    local r = go(depth)
    return r
  end,
  __call = function(t, depth) return (go(depth)) end,
  __add = function(a, depth) return (go(depth)) end,
  __concat = function(a, depth) return (go(depth)) end,
  __eq = function(a, b)
    go(a.depth)
    return true
  end,
  __lt = function(a, b)
    go(a.depth)
    return true
  end,
  __unm = function(a) return (go(a.depth)) end,
  __tostring = function(a)
    go(rawget(a, "depth") or 0)
    return "text"
  end,
})
local other = setmetatable({}, getmetatable(proxy))
local function set_depth(depth) rawset(proxy, "depth", depth) rawset(other, "depth", depth) end

local function each(state, i)
  if i then return nil end
  go(state)
  return 1
end

local function variadic(depth, ...)
  local n = select("#", ...)
  return (go(depth)) + n
end

local ways = {
  function(depth) return (go(depth)) end,
  function(depth) return go(depth) end, -- a tail call: it has no frame
  function(depth) return (variadic(depth, 1, 2, 3)) end,
  function(depth) return variadic(depth, depth, nil) end,
  function(depth)
    local ok, r = pcall(go, depth)
    if not ok then error(r, 0) end
    return r
  end,
  function(depth)
    local ok, r = pcall(function(d) error(go(d)) end, depth)
    return 1
  end,
  function(depth)
    local ok, r = xpcall(function() error("x") end, function(e)
      return (go(depth))
    end)
    return type(r) == "number" and r or 1 -- a handler's own error gives a text
  end,
  function(depth)
    local done
    table.sort({ 2, 1, 3 }, function(a, b)
      if not done then
        done = true
        go(depth)
      end
      return a < b
    end)
    return 1
  end,
  function(depth)
    string.gsub("a", "a", function(c)
      go(depth)
      return c
    end)
    return 1
  end,
  function(depth) return proxy[depth] end,
  function(depth)
    proxy[depth] = 1
    return 1
  end,
  function(depth) return (proxy(depth)) end,
  function(depth) return proxy + depth end,
  function(depth) return proxy .. depth end,
  function(depth)
    set_depth(depth)
    return proxy == other and 1
  end,
  function(depth)
    set_depth(depth)
    return proxy < other and 1
  end,
  function(depth)
    set_depth(depth)
    return -proxy
  end,
  function(depth)
    set_depth(depth)
    return #tostring(proxy)
  end,
  function(depth)
    for i in each, depth do depth = 0 end
    return 1
  end,
  function(depth)
    return inside(coroutine.create(function(d)
      local r = go(d)
      return r
    end), depth)
  end,
  function(depth)
    local thread = coroutine.create(function(d)
      coroutine.yield(1)
      local r = go(d)
      return r
    end)
    inside(thread, depth)
    return (inside(thread))
  end,
  function(depth)
    local chunk = loadstring("local go, depth = ...\n\nlocal r = go(depth)\nreturn r", "=/made/first.lua")
    return (chunk(go, depth))
  end,
  function(depth)
    local chunk = loadstring("local go, depth = ...\nlocal r = go(depth)\nreturn r", "@/made/second.lua")
    return (chunk(go, depth))
  end,
  function(depth)
    return math.max(
      0,
      select(1,
        go(
          depth)))
  end,
  function(depth) return (recurse(depth % 5)) end,
}
if has_ffi then
  local by_callback = ffi.cast("int (*)(const void*, const void*)", function() return 0 end)
  ffi.cdef [[
    int getppid(void); int getpid(void); int usleep(unsigned); int prctl(int, const char*, long, long, long);
    void qsort(void*, size_t, size_t, int (*)(const void*, const void*));
  ]]
  ways[#ways + 1] = function(depth)
    local done
    by_callback:set(function()
      if not done then
        done = true
        go(depth)
      end
      return 0
    end)
    ffi.C.qsort(ffi.new("int[2]", 1, 2), 2, 4, by_callback)
    return 1
  end
end

function go(depth)
  if depth <= 0 then return leaf() end
  return (ways[chance(#ways) + 1](depth - 1))
end

local arm
if has_ffi then
  local C = ffi.C
  C.prctl(15, "acu-seeded", 0, 0, 0)
  out = io.open(folder .. "/" .. C.getpid(), "w")
  arm = C.getppid
else
  local f = io.open("/proc/self/comm", "w")
  f:write("acu-seeded")
  f:close()
  f = io.open("/proc/self/stat")
  out = io.open(folder .. "/" .. f:read("*n"), "w")
  f:close()
  arm = os.remove
end

if trigger == "ask" then
  function leaf()
    if mark() and out:flush() and io.write("ready\n") and io.flush() and io.read() then return 1 end
    return 1
  end
elseif trigger == "turn" then -- as `ask`, but first it runs for 0.1 s
  function leaf()
    if mark() and out:flush() and io.write("ready\n") and io.flush() then local n, finish = 0, os.clock() + 0.1 while os.clock() < finish do for i = 1, 1000 do n = n + i % 7 end end return io.read() and 1 end
    return 1
  end
elseif not has_ffi then
  function leaf()
    local n = 0
    if mark() and not arm("/nowhere") and trigger == "spin" then for i = 1, 1000000 do n = n + i % 7 end end
    return n
  end
elseif trigger == "spin" then
  function leaf()
    local n = 0
    if mark() and arm() then for i = 1, 3000000 do n = n + i % 7 end end
    return n
  end
elseif trigger == "sleep" then
  function leaf()
    if mark() and arm() then ffi.C.usleep(50) end
    return 1
  end
else
  function leaf()
    if mark() then arm() end
    return 1
  end
end

if arg[#arg] == "wait" then
  io.stdout:write("ready\n")
  io.stdout:flush()
  io.read()
end
if has_ffi then ffi.C.usleep(200000) else os.execute("sleep 0.2") end -- acu gets to know the program
while marks < count do
  if chance(100) < 3 then recurse(100 + chance(380)) else go(1 + chance(24)) end
end
out:close()
