# Programs with known stacks, for ruby.py: shapes.rb shares SECONDS | deep DEPTH.
def spent
  Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
end

# That many hundredths of 104.3 ms: no multiple of a sampling period.
def busy(share)
  finish = spent + share * 0.001043
  nil while spent < finish
end

def seventy() busy(7) end
def twenty() busy(2) end
def ten() busy(1) end

def shares(seconds)
  finish = spent + seconds
  while spent < finish
    seventy
    twenty
    ten
  end
end

def descend(depth)
  return Process.ppid if depth == 0
  descend(depth - 1)
end

case ARGV[0]
when "shares" then shares(ARGV[1].to_f)
when "deep" then descend(ARGV[1].to_i)
end
