// SPDX-License-Identifier: Apache-2.0

// Command evictions measures how long evictions take, as dry runs and really. It does so without a webhook, and with that
// of PodUnavailableBudgets. One budget lets all pods go, and another lets none go. The command works on a control plane
// of its own, and prints a table. The table says how long a client that evicts waits, and how much of that the webhook
// takes.
//
//	go run ./tests/evictions -pods 500 -parallel 4
//
// There are no nodes: pods are told to be Ready, and go at once. All have the same budget, so that what is allowed is booked on
// one object. An answer is checked: 429 if the budget lets none go, and 201 otherwise.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"text/tabwriter"
	"time"
)

// options say what to measure.
type options struct {
	pods, parallel int // how many are evicted for each line, and at the same time
	cache          bool
}

func main() {
	var o options
	flag.IntVar(&o.pods, "pods", 500, "pods evicted for each line of the table")
	flag.IntVar(&o.parallel, "parallel", 4, "pods evicted at the same time")
	flag.BoolVar(&o.cache, "cache", false, "give the webhook a cache of pods, so that it need not ask for each")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// way is who is asked about evictions.
type way string

const (
	noWebhook  way = "no one is asked"
	letsAllGo  way = "a budget lets all go"
	letsNoneGo way = "a budget lets none go"
)

// run measures everything.
func run(ctx context.Context, o options, table, log io.Writer) (err error) {
	r, err := newBench(ctx, o, log)
	if err != nil {
		return err
	}
	defer func() {
		if failure := r.Control.Stop(); err == nil {
			err = failure
		}
	}()
	var lines []result
	for _, w := range []way{noWebhook, letsAllGo, letsNoneGo} {
		of, err := r.measureWay(ctx, w)
		if err != nil {
			return fmt.Errorf("%s: %w", w, err)
		}
		lines = append(lines, of...)
	}
	return printTable(table, lines)
}

// result is a line of the table.
type result struct {
	way    way
	dryRun bool
	denied int
	// took is how long evictions took, and webhook how long that did; empty if there is none.
	took, webhook []time.Duration
}

func printTable(w io.Writer, lines []result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "asked\tdry run\tevictions\tdenied\tp50\tp99\tlongest\twebhook p50\tp99\tlongest\t")
	for _, l := range lines {
		fmt.Fprintf(t, "%s\t%t\t%d\t%d\t%s\t%s\t\n", l.way, l.dryRun, len(l.took), l.denied, figures(l.took), figures(l.webhook))
	}
	return t.Flush()
}

// figures are the median, the 99th percentile and the longest of sorted times.
func figures(took []time.Duration) string {
	if len(took) == 0 {
		return "\t\t"
	}
	round := func(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
	return fmt.Sprintf("%v\t%v\t%v", round(took[len(took)/2]), round(took[len(took)*99/100]), round(took[len(took)-1]))
}
