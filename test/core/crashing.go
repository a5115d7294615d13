// A program that reads memory that is not there.
package main

//go:noinline
func reads(at *int, times int) int {
	sum := 0
	for i := 0; i < times; i++ {
		sum += i
	}
	return sum + *at
}

//go:noinline
func fails(depth int) int {
	if depth > 0 {
		return fails(depth-1) + 1
	}
	return reads(nil, 3)
}

func main() { println(fails(3)) }
