// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// phase is what a manager did in one phase in the life of a CloneSet.
type phase struct {
	Label    string
	Name     string `json:"phase"`
	Pods     int
	Wall     float64        `json:"wall_s"`
	CPU      float64        `json:"cpu_s"`
	Peak     float64        `json:"peak_mb"`
	Resident float64        `json:"rss_mb"`
	Requests map[string]int // by verb and resource; nil: they were not counted
}

// requests returns how many there were for each pod, if they were counted. A watch is none of them: it stays for as long as the manager runs.
func (p phase) requests() (float64, bool) {
	n := 0
	for what, count := range p.Requests {
		if !strings.HasPrefix(what, "watch ") {
			n += count
		}
	}
	return float64(n) / float64(p.Pods), p.Requests != nil
}

// cpu returns the CPU time for each pod, in milliseconds.
func (p phase) cpu() float64 { return 1000 * p.CPU / float64(p.Pods) }

// phases are those that tables and charts show, and how they call them.
var phases = []struct{ name, text string }{
	{"create", "create"}, {"inplace", "update in place"}, {"rollback", "roll back in place"}, {"recreate", "recreate update"}, {"scale-in", "scale in by half"},
}

// run is one run of a manager: its phases by name.
type run map[string]phase

// peak returns the most memory that it had in any phase, in MB.
func (r run) peak() (most float64) {
	for _, p := range r {
		most = max(most, p.Peak)
	}
	return most
}

// readRun reads a file of JSON lines, and wants every phase in it once.
func readRun(folder, name string) (run, error) {
	r := run{}
	err := readLines(filepath.Join(folder, name), func(p phase) error {
		if _, found := r[p.Name]; found || p.Pods <= 0 || p.Wall <= 0 || p.CPU < 0 || p.Peak <= 0 {
			return fmt.Errorf("phase %q: want each once, with pods, wall time and memory; found %+v", p.Name, p)
		}
		r[p.Name] = p
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, p := range phases {
		if _, found := r[p.name]; !found {
			return nil, fmt.Errorf("%s: phase %s is missing", name, p.name)
		}
	}
	return r, nil
}

// readLines calls take for every line of a file of JSON lines.
func readLines[T any](file string, take func(T) error) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	for {
		var line T
		if err := decoder.Decode(&line); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := take(line); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
}

// plan is how long a plan for so many pods takes, and what it allocates.
type plan struct {
	What               string // settled, update or scale-in
	Pods               int
	Nanoseconds        float64
	Bytes, Allocations int
}

var benchmark = regexp.MustCompile(`(?m)^BenchmarkPlan/([a-z-]+)/(\d+)-\d+\s+\d+\s+([\d.]+) ns/op(?:\s+[\d.]+ [a-z-]+)?\s+(\d+) B/op\s+(\d+) allocs/op$`)

// readPlans reads what "go test -bench Plan -benchmem" printed. With -count it takes the quickest run: others had to wait for the machine.
func readPlans(folder, name string) (all []plan, err error) {
	data, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		return nil, err
	}
	for _, m := range benchmark.FindAllStringSubmatch(string(data), -1) {
		pods, errPods := strconv.Atoi(m[2])
		nanoseconds, errTime := strconv.ParseFloat(m[3], 64)
		size, errBytes := strconv.Atoi(m[4])
		allocations, errCount := strconv.Atoi(m[5])
		if err := errors.Join(errPods, errTime, errBytes, errCount); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		p := plan{m[1], pods, nanoseconds, size, allocations}
		i := slices.IndexFunc(all, func(q plan) bool { return q.What == p.What && q.Pods == p.Pods })
		if i < 0 {
			all = append(all, p)
		} else if p.Nanoseconds < all[i].Nanoseconds {
			all[i] = p
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no line of BenchmarkPlan with -benchmem", name)
	}
	return all, nil
}

// build is a program and its size, or a package and how many others it needs.
type build struct {
	Program, Package string `json:",omitempty"`
	Bytes            int64  `json:",omitempty"`
	Packages         int    `json:",omitempty"` // beyond the standard library, with itself
	Note             string `json:",omitempty"` // how it was built, or what the package is
}

// readBuilds reads a file of JSON lines.
func readBuilds(folder, name string) (all []build, err error) {
	err = readLines(filepath.Join(folder, name), func(b build) error {
		if (b.Program == "") == (b.Package == "") || (b.Bytes > 0) != (b.Program != "") || (b.Packages > 0) != (b.Package != "") {
			return fmt.Errorf("want a program with bytes, or a package with packages; found %+v", b)
		}
		all = append(all, b)
		return nil
	})
	return all, err
}
