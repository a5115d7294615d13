// The same for Go: main.main calls main.work, that the method handler, in which middle and small are inlined.
package main

import (
	"os"
	"syscall"
	"time"
)

type table struct{ rows []int }

func small(x int) int  { return x*x + 7 }
func middle(x int) int { return small(x) + small(x+1) }

//go:noinline
func (t *table) handler(n int) int {
	sum := 0
	for i := 0; i < n; i++ {
		sum += middle(i ^ sum)
		t.rows[i%len(t.rows)] += sum
	}
	syscall.Getpgid(0)
	return sum
}

//go:noinline
func work(seconds int) int {
	t := &table{rows: make([]int, 1000)}
	out := t.handler(1000)
	for end := time.Now().Add(time.Duration(seconds) * time.Second); time.Now().Before(end); {
		out += t.handler(1000000)
	}
	return out
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "wait" {
		time.Sleep(time.Hour)
	}
	if work(len(os.Args[1:])) == 0 {
		os.Exit(1)
	}
}
