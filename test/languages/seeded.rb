# As seeded.py: seeded.rb FOLDER SEED COUNT TRIGGER [fork N | threads N] [wait]. Functions in C have no file, and line 0. No new syntax: it runs in Ruby 2.7.
Encoding.default_external = "UTF-8"

class Program
  attr_reader :depth

  def initialize(folder, seed, trigger)
    File.write("/proc/thread-self/comm", "acu-seeded") # Ruby gives threads names of their own
    @out = File.open(File.join(folder, File.readlink("/proc/thread-self").split("/").last), "w")
    @random, @trigger = seed, trigger
  end

  def chance(n)
    @random = (@random * 1103515245 + 12345) & 0x7fffffff
    (@random >> 8) % n
  end

  # Functions in C have the place that called them in Ruby's own backtraces.
  def mark
    lines = caller_locations(1).map do |l|
      own?(l) ? "#{l.label}|#{l.path}|#{l.lineno}\n" : "#{l.label}||0\n"
    end
    @out.write("#{INNERMOST[@trigger]}||0\n", *lines, "\n")
    @out.flush
    if @trigger == "ask"
      puts "ready"
      $stdout.flush
    end
  end

  # For code that has neither: each thread has its own.
  def note(depth)
    Thread.current.thread_variable_set(:program, self)
    Thread.current.thread_variable_set(:depth, depth)
  end

  def self.noted
    Thread.current.thread_variable_get(:program).go(Thread.current.thread_variable_get(:depth))
  end

  # Whether it is a function of Ruby's. A few have the name of one in C: they are on the line of their definition.
  def own?(l)
    return false unless l.path # the outermost ones of a fiber
    return true if l.path.start_with?("<internal") || l.base_label.start_with?("<")
    return SOURCE[l.lineno - 1].to_s.include?("def #{l.base_label}") if SHARED.include?(l.base_label)
    OWN.include?(l.base_label)
  end

  def pull_getppid; mark; Process.ppid; end
  def pull_sleep; mark; Process.ppid; sleep(0.00005); end
  def pull_spin; mark; Process.ppid; TEXT.sum; end
  def pull_ask; mark; $stdin.gets; end

  def go(depth)
    return send(PULLS[@trigger]) if depth <= 0
    __send__(WAYS[chance(WAYS.size)], depth - 1)
  end

  def recurse(depth)
    return recurse(depth - 1) if depth > 0
    send(PULLS[@trigger])
  end

  def method_missing(name, *arguments)
    name == :no_such_method ? go(*arguments) : super
  end

  def respond_to_missing?(name, all = false)
    name == :no_such_method || super
  end

  def by_call(depth) go(depth) end
  def by_block(depth) [1].each { go(depth) } end
  def by_nested_blocks(depth) [1].each { |x| [x].map { |y| [y].each_with_index { |z, i| go(depth) } } } end
  def by_lambda(depth) lambda { go(depth) }.call end
  def by_proc(depth) proc { |d| go(d) }.call(depth) end
  def by_yield(depth) yields(depth) { |d| go(d) } end
  def yields(depth) yield depth end
  def by_block_argument(depth) passes(depth) { |d| go(d) } end
  def passes(depth, &block) block.call(depth) end
  def by_times(depth) 1.times { go(depth) } end
  def by_sort(depth)
    done = false
    [2, 1].sort { |a, b| (go(depth); done = true) unless done; a <=> b }
  end
  def by_sort_by(depth)
    done = false
    [2, 1].sort_by { |a| (go(depth); done = true) unless done; a }
  end
  def by_inject(depth) [1, 2].inject { |a, b| go(depth); a } end
  def by_symbol(depth) [self].each(&:go_on) if (@at = depth) end
  def go_on; go(@at); end
  def by_method_object(depth) method(:go).call(depth) end
  def by_unbound_method(depth) Program.instance_method(:go).bind(self).call(depth) end
  def by_send(depth) public_send(:go, depth) end
  def by_missing(depth) no_such_method(depth) end
  define_method(:by_defined_method) { |depth| go(depth) }
  def by_singleton(depth)
    object, program = Object.new, self
    object.define_singleton_method(:by_itself) { |d| program.go(d) }
    object.by_itself(depth)
  end
  def by_class_method(depth) Helper.by_static(self, depth) end
  def by_super(depth) Derived.new.by_overridden(self, depth) end
  def by_module(depth) Derived.new.by_mixin(self, depth) end
  def by_alias(depth) Derived.new.by_other_name(self, depth) end
  def by_rescue(depth)
    raise ArgumentError
  rescue ArgumentError
    go(depth)
  end
  def by_ensure(depth)
    1
  ensure
    go(depth)
  end
  def by_ensure_of_error(depth)
    begin
      begin
        raise ArgumentError
      ensure
        go(depth)
      end
    rescue ArgumentError
    end
  end
  def by_catch(depth) catch(:done) { go(depth); throw :done } end
  def by_eval(depth) eval("go(depth)\n") end
  def by_eval_with_place(depth) eval("\n\ngo(depth)", binding, "/made.rb", 40) end
  def by_instance_eval(depth) instance_eval { go(depth) } end
  def by_instance_exec(depth) instance_exec(depth) { |d| go(d) } end
  def by_class_eval(depth)
    program = self
    Class.new { class_eval { program.go(depth) } }
  end
  def by_class_body(depth)
    note(depth)
    eval("class Program::Body; Program.noted; end")
  end
  def by_load(depth)
    note(depth)
    load LOADED
  end
  def by_initialize(depth) Made.new(self, depth) end
  def by_operator(depth) Derived.new.tap { |d| d.program = self } + depth end
  def by_index(depth) Derived.new.tap { |d| d.program = self }[depth] end
  def by_attribute(depth) d = Derived.new; d.program = self; d.by_written = depth end
  def by_to_s(depth) d = Derived.new; d.program = self; d.at = depth; "#{d}" end
  def by_compare(depth) d = Derived.new; d.program = self; d.at = depth; [d, d].max end
  def by_hash(depth) d = Derived.new; d.program = self; d.at = depth; { d => 1 } end
  def by_each(depth) d = Derived.new; d.program = self; d.at = depth; d.map { |x| x } end
  def by_enumerator(depth) e = Enumerator.new { |y| go(depth); y << 1 }; e.each { } end
  def by_fiber(depth) by_resume(Fiber.new { go(depth) }) end
  def by_resume(fiber) fiber.resume end
  def by_external_enumerator(depth) Enumerator.new { |y| go(depth); y << 1 }.next end
  def by_lazy(depth) [1].lazy.map { |x| go(depth) }.first end
  def by_hash_default(depth) Hash.new { |h, k| go(depth) }[1] end
  def by_gsub(depth) "a".gsub(/a/) { go(depth); "b" } end
  def by_loop(depth) loop { go(depth); break } end
  def by_while(depth)
    i = 0
    while i < 1
      i += 1
      go(depth)
    end
  end
  def by_case(depth)
    case depth
    when 100 then 1
    else
      go(
        depth
      )
    end
  end
  def by_keywords(depth) takes_keywords(depth: depth) end
  def takes_keywords(depth:, other: 1) go(depth) end
  def by_defaults(depth) takes_defaults(depth) end
  def takes_defaults(depth, made = go(depth)) made end
  def by_splat(depth) takes_all(*[depth]) end
  def takes_all(*all) go(*all) end
  def by_curry(depth) proc { |a, b| go(b) }.curry[1][depth] end
  def by_composition(depth) (method(:go) >> proc { |x| x }).call(depth) end
  def by_deep_block(depth) deeper(chance(30)) { go(depth) } end
  def deeper(n, &block) n > 0 ? deeper(n - 1, &block) : yield end
  def by_recursion(depth) recurse(chance(20)) end
  # Its table of lines is longer than what is sent with a function's name.
  class_eval("def by_long_function(depth)\n" + "  depth = depth + 0\n" * 900 + "go(depth)\nend\n", __FILE__, 1000)
  def by_struct(depth) Pair.new(self, depth).by_member end
  def by_comparable(depth) d = Derived.new; d.program = self; d.at = depth; d.between?(d, d) end
  def by_object_space(depth) ObjectSpace.each_object(Class) { |c| break go(depth) } end
end

class Helper
  def self.by_static(program, depth) program.go(depth) end
end
module Mixin
  def by_mixin(program, depth) program.go(depth) end
end
class Base
  def by_overridden(program, depth) program.go(depth) end
end
class Derived < Base
  include Mixin
  include Enumerable
  include Comparable
  attr_accessor :program, :at
  def by_overridden(program, depth) super end
  def by_first_name(program, depth) program.go(depth) end
  alias by_other_name by_first_name
  def +(depth) program.go(depth) end
  def [](depth) program.go(depth) end
  def by_written=(depth) program.go(depth) end
  def to_s; program.go(at); "" end
  def <=>(other) program.go(at); 0 end
  def hash; program.go(at); 1 end
  def eql?(other) true end
  def each; program.go(at); yield 1 end
end
class Made
  def initialize(program, depth) program.go(depth) end
end
Pair = Struct.new(:program, :depth) do
  def by_member; program.go(depth) end
end

SHARED = %w[initialize + [] to_s hash each <=> eql?]
OWN = [Program, Helper.singleton_class, Mixin, Base, Derived, Pair].flat_map { |c| c.instance_methods(false) }.map(&:to_s) +
      %w[method_missing by_itself by_member noted run] - SHARED
SOURCE = File.readlines(__FILE__)
INNERMOST = { "getppid" => "ppid", "sleep" => "sleep", "spin" => "sum", "ask" => "gets" }
PULLS = INNERMOST.keys.map { |t| [t, "pull_#{t}"] }.to_h
WAYS = Program.instance_methods(false).select { |name| name.start_with?("by_") && name != :by_resume }.sort
TEXT = "x" * (10 << 20)

folder, seed, count, trigger, *way = ARGV
LOADED = File.join(folder, "loaded.rb")
File.write(LOADED, "\nProgram.noted\n")

def run(folder, seed, count, trigger)
  program = Program.new(folder, seed, trigger)
  count.times { program.go(program.chance(12)) }
end

if way.last == "wait"
  puts "ready"
  $stdout.flush
  $stdin.gets
end
seed, count, many = seed.to_i, count.to_i, way[1].to_i
case way[0]
when "fork"
  many.times { |n| fork { run(folder, seed + n, count, trigger); exit!(0) } }
  Process.waitall
when "threads" then many.times.map { |n| Thread.new { run(folder, seed + n, count, trigger) } }.each(&:join)
else run(folder, seed, count, trigger)
end
