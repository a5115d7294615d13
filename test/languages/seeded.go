// A program whose goroutines wait in known ways, each in a function of its own, and which adds up itself how long: acu's totals are compared with that.
//
//	seeded SECONDS SEED GOROUTINES [wait]
//
// It goes on for SECONDS, and prints at the end a line `function nanoseconds` for each function: how long it waited there. Waits of every kind last some
// 100 ms, by chance; GOROUTINES more wait for one channel, for all of the time. With `wait` it prints `ready` when all wait, and reads a line from its input;
// only what is waited after that counts. The line `measured nanoseconds` has the time that counts.
package main

import (
	"bufio"
	"fmt"
	"math/rand"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var (
	stop   = make(chan struct{}) // closed at the end
	begun  atomic.Value          // time.Time: the line was read
	totals sync.Map              // function -> *int64, nanoseconds
	ended  sync.WaitGroup
)

// Adds what was waited since `from`, but not before the line was read.
func note(function string, from time.Time) {
	until := time.Now()
	if at, ok := begun.Load().(time.Time); !ok {
		return
	} else if from.Before(at) {
		from = at
	}
	if until.Before(from) {
		return
	}
	total, _ := totals.LoadOrStore(function, new(int64))
	atomic.AddInt64(total.(*int64), int64(until.Sub(from)))
}

func over() bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

func some(r *rand.Rand) time.Duration { return time.Duration(50+r.Intn(150)) * time.Millisecond }

//go:noinline
func waitsForChannel(c chan int) {
	from := time.Now()
	<-c
	note("main.waitsForChannel", from)
}

//go:noinline
func waitsToSend(c chan int) {
	from := time.Now()
	c <- 1
	note("main.waitsToSend", from)
}

//go:noinline
func waitsForMutex(m *sync.Mutex) {
	from := time.Now()
	m.Lock()
	note("main.waitsForMutex", from)
	m.Unlock()
}

//go:noinline
func sleeps(d time.Duration) {
	from := time.Now()
	time.Sleep(d)
	note("main.sleeps", from)
}

//go:noinline
func readsNetwork(c net.Conn) bool {
	from := time.Now()
	n, _ := c.Read(make([]byte, 1))
	note("main.readsNetwork", from)
	return n == 1
}

//go:noinline
func selects(a, b chan int) {
	from := time.Now()
	select {
	case <-a:
	case <-b:
	}
	note("main.selects", from)
}

//go:noinline
func waitsForGroup(g *sync.WaitGroup) {
	from := time.Now()
	g.Wait()
	note("main.waitsForGroup", from)
}

//go:noinline
func waitsForCondition(c *sync.Cond) {
	c.L.Lock()
	from := time.Now()
	c.Wait()
	note("main.waitsForCondition", from)
	c.L.Unlock()
}

// A file in blocking mode: the thread waits in the system call.
//
//go:noinline
func readsPipe(fd int) {
	from := time.Now()
	syscall.Read(fd, make([]byte, 1))
	note("main.readsPipe", from)
}

//go:noinline
func waitsAllTheTime() {
	from := time.Now()
	<-stop
	note("main.waitsAllTheTime", from)
}

//go:noinline
func waitsAmongMany(c chan struct{}) {
	from := time.Now()
	<-c
	note("main.waitsAmongMany", from)
}

// Repeats `wait` until the end. `end` makes it end: it is called by another goroutine, some time later.
func repeat(seed int64, wait func(), end func()) {
	ended.Add(1)
	r := rand.New(rand.NewSource(seed))
	go func() {
		defer ended.Done()
		for !over() {
			d := some(r)
			done := make(chan struct{})
			go func() {
				time.Sleep(d)
				end()
				close(done)
			}()
			wait()
			<-done
		}
	}()
}

func main() {
	seconds, _ := strconv.ParseFloat(os.Args[1], 64)
	seed, _ := strconv.ParseInt(os.Args[2], 10, 64)
	many, _ := strconv.Atoi(os.Args[3])
	waits := len(os.Args) > 4
	if !waits {
		begun.Store(time.Now())
	}

	received, sent := make(chan int), make(chan int)
	repeat(seed, func() { waitsForChannel(received) }, func() { received <- 1 })
	repeat(seed+1, func() { waitsToSend(sent) }, func() { <-sent })
	var lock sync.Mutex
	lock.Lock()
	repeat(seed+2, func() { waitsForMutex(&lock) }, func() { lock.Unlock(); time.Sleep(10 * time.Millisecond); lock.Lock() })
	r := rand.New(rand.NewSource(seed + 3))
	ended.Add(1)
	go func() {
		defer ended.Done()
		for !over() {
			sleeps(some(r))
		}
	}()
	here, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	there, err := net.Dial("tcp", here.Addr().String())
	if err != nil {
		panic(err)
	}
	reader, err := here.Accept()
	if err != nil {
		panic(err)
	}
	repeat(seed+4, func() { readsNetwork(reader) }, func() { there.Write([]byte("x")) })
	first, second := make(chan int), make(chan int)
	repeat(seed+5, func() { selects(first, second) }, func() { second <- 1 })
	var group sync.WaitGroup
	group.Add(1)
	repeat(seed+6, func() { waitsForGroup(&group); group.Add(1) }, func() { group.Done() })
	condition := sync.NewCond(&sync.Mutex{})
	repeat(seed+7, func() { waitsForCondition(condition) }, func() { condition.L.Lock(); condition.Signal(); condition.L.Unlock() })
	var pipe [2]int
	if err := syscall.Pipe(pipe[:]); err != nil {
		panic(err)
	}
	repeat(seed+8, func() { readsPipe(pipe[0]) }, func() { syscall.Write(pipe[1], []byte("x")) })
	ended.Add(1)
	go func() {
		defer ended.Done()
		waitsAllTheTime()
	}()
	among := make(chan struct{})
	for i := 0; i < many; i++ {
		ended.Add(1)
		go func() {
			defer ended.Done()
			waitsAmongMany(among)
		}()
	}

	if waits {
		time.Sleep(300 * time.Millisecond)
		fmt.Println("ready")
		bufio.NewReader(os.Stdin).ReadString('\n')
		begun.Store(time.Now())
	}
	time.Sleep(time.Duration(seconds * float64(time.Second)))
	close(stop)
	close(among)
	ended.Wait()
	fmt.Println("measured", int64(time.Since(begun.Load().(time.Time))))
	totals.Range(func(function, total any) bool {
		fmt.Println(function, *total.(*int64))
		return true
	})
}
