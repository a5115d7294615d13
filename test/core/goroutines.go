// Goroutines that wait in known ways.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

var lock sync.Mutex

func waits_for_channel(c chan int, depth int) int {
	if depth > 0 {
		return waits_for_channel(c, depth-1) + 1
	}
	return <-c
}

func waits_for_lock() { lock.Lock(); fmt.Println("got it") }
func sleeps()         { time.Sleep(time.Hour) }

func main() {
	c := make(chan int)
	lock.Lock()
	for i := 0; i < 100; i++ {
		go waits_for_channel(c, 3)
	}
	for i := 0; i < 20; i++ {
		go waits_for_lock()
	}
	go sleeps()
	time.Sleep(200 * time.Millisecond)
	fmt.Println("ready")
	os.Stdout.Sync()
	select {}
}
