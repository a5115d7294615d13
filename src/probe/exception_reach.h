// Which functions an exception may pass through, or a thread that is cancelled and runs its handlers on the way. A
// probe at a function's return by the kernel's trampoline (uretprobe) puts the trampoline's address in the place of
// the return address, and no unwinder finds its way on from there: what would have caught the exception is not found,
// and the program is ended. (docs/returns.md has the reasons for each rule.)
#pragma once

#include "symbol/binaries.h"
#include "symbol/function_ends.h"

#include <map>
#include <set>

namespace probe {

class ExceptionReach {
public:
  explicit ExceptionReach(symbol::Binaries& binaries) : binaries_(binaries) {}
  // Whether one may pass through a function, as far as is not proven that none does.
  bool may_pass(symbol::Binary& binary, const symbol::FunctionSymbol& function);

private:
  bool is_declared_so(symbol::Binary& binary, const symbol::FunctionSymbol& function);
  bool may_be_caught(symbol::Binary& binary);
  bool find_handlers(symbol::Binary& binary);
  bool has_handlers_below(symbol::Binary& program);
  bool calls_nothing_unknown(symbol::Binary& binary, const symbol::FunctionSymbol& function);

  symbol::Binaries& binaries_;
  std::map<const symbol::Binary*, bool> has_handlers_;
};

} // namespace probe
