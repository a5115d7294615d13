profile-997hz /arg1/ { @[ustack(5), stack()] = count(); this->x = (uint8_t)arg1 ? 1 : -2; @l = llquantize(this->x, 10, 0, 3, 10); @m = lquantize(this->x++, -5, 5, 1, 2); }
