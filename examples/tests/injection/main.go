// SPDX-License-Identifier: Apache-2.0

// Command injection measures how long it takes to create a pod into which SidecarSets inject,
// by policies and by a webhook. It works on a control plane of its own, and prints a table.
//
//	go run ./tests/injection -sidecarsets 1,10,100 -pods 500
//
// By policies all controllers are stopped before the pods are created; the webhook has to run.
// Pods are not scheduled. Every pod is checked: it has to have all containers and annotations that
// injection.Inject computes.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// mostMatching is how many SidecarSets match a pod at most: none has more sidecars.
const mostMatching = 5

// options say what to measure.
type options struct {
	sidecarSets    []int // how many there are
	pods, parallel int   // how many are created, and at the same time
}

func main() {
	o := options{sidecarSets: []int{1, 10, 100}}
	flag.Func("sidecarsets", "numbers of SidecarSets, separated by commas (default 1,10,100)", func(text string) error {
		o.sidecarSets = nil
		for n := range strings.SplitSeq(text, ",") {
			number, err := strconv.Atoi(n)
			if err != nil {
				return err
			}
			o.sidecarSets = append(o.sidecarSets, number)
		}
		return nil
	})
	flag.IntVar(&o.pods, "pods", 500, "pods created for each line of the table")
	flag.IntVar(&o.parallel, "parallel", 4, "pods created at the same time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run measures everything.
func run(ctx context.Context, o options, table, log io.Writer) (err error) {
	r, err := newBench(ctx, log)
	if err != nil {
		return err
	}
	defer func() {
		if failure := r.Control.Stop(); err == nil {
			err = failure
		}
	}()
	lines := []result{}
	base, err := r.measure(ctx, o, nil)
	if err != nil {
		return err
	}
	lines = append(lines, base)
	for _, way := range []way{byPolicies, byWebhook} {
		for _, number := range o.sidecarSets {
			for _, matching := range slices.Compact([]int{1, min(number, mostMatching)}) {
				of, err := r.measureSets(ctx, o, way, number, matching)
				if err != nil {
					return fmt.Errorf("%d SidecarSets %s: %w", number, way, err)
				}
				lines = append(lines, of)
			}
		}
	}
	return printTable(table, lines)
}

// result is a line of the table.
type result struct {
	way                   way
	sidecarSets, matching int
	pods, injected        int
	half, most, slowest   time.Duration
}

func printTable(w io.Writer, lines []result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "injected\tSidecarSets\tthat match\tpods\tinjected\tp50\tp99\tlongest\t")
	for _, l := range lines {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%v\t%v\t%v\t\n", l.way, l.sidecarSets, l.matching, l.pods, l.injected, round(l.half), round(l.most), round(l.slowest))
	}
	return t.Flush()
}

func round(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }
