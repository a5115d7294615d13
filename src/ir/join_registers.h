// Registers of one function that are never needed at the same time, and of which one is a copy of the other, become
// one; those that stay are numbered without gaps. Copies between what became one go. Not a pass of optimize():
// registers are cheap to the kernel's engine, which gives out real ones later, and passes know most of those that are
// assigned once.
#pragma once

#include "ir/ir.h"

namespace ir {

void join_registers(Function& function);

} // namespace ir
