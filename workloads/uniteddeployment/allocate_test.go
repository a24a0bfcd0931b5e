// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestAllocate shows how many pods subsets have in the cases of testdata/allocate.txt: allocate REPLICAS SUBSET… have=(NOW…).
func TestAllocate(t *testing.T) {
	datadriven.RunTest(t, "testdata/allocate.txt", func(t *testing.T, d *datadriven.TestData) string {
		replicas, err := strconv.ParseInt(d.CmdArgs[0].Key, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		var wanted []string
		current, limits := map[string]int32{}, false
		for _, arg := range d.CmdArgs[1:] {
			for i, text := range arg.Vals {
				n, _ := strconv.Atoi(text)
				current[fmt.Sprint("t", i+1)] = int32(n)
			}
			if arg.Vals == nil {
				limits = limits || strings.Contains(arg.Key, ":")
				wanted = append(wanted, strings.ReplaceAll(arg.Key, ":", " ")+strings.Repeat(" -", 2-strings.Count(arg.Key, ":")))
			}
		}
		allocate := Allocate
		if limits {
			allocate = allocateWithin
		}
		a, err := allocate(int32(replicas), within(wanted...), current)
		if err != nil {
			return err.Error() + "\n"
		}
		if len(a.Replicas) == 0 {
			return ""
		}
		return strings.Trim(fmt.Sprint(a.Replicas), "[]") + map[bool]string{true: " resolved"}[a.Resolved] + "\n"
	})
}

// within are subsets t1, t2 and so on with "replicas minimum maximum", "-" for none.
func within(wanted ...string) (all []v1alpha1.Subset) {
	for i, w := range wanted {
		subset := v1alpha1.Subset{Name: fmt.Sprint("t", i+1)}
		fields := strings.Fields(w)
		for j, into := range []**intstr.IntOrString{&subset.Replicas, &subset.MinReplicas, &subset.MaxReplicas} {
			if fields[j] != "-" {
				*into = new(intstr.Parse(fields[j]))
			}
		}
		all = append(all, subset)
	}
	return all
}

// UD-3, UD-20: whatever subsets ask for, they add up to spec.replicas. Each gets what it asks for if that adds up, and if the
// limits leave a choice each is kept.
func TestAllocateAddsUp(t *testing.T) {
	value := rapid.OneOf(rapid.Just("-"), rapid.Map(rapid.Int32Range(0, 40), func(n int32) string { return fmt.Sprint(n) }),
		rapid.Map(rapid.IntRange(0, 100), func(n int) string { return fmt.Sprint(n, "%") }))
	rapid.Check(t, func(r *rapid.T) {
		replicas := rapid.Int32Range(0, 60).Draw(r, "replicas")
		subsets := within(rapid.SliceOfN(rapid.Custom(func(r *rapid.T) string {
			limit := rapid.OneOf(rapid.Just("-"), value)
			return strings.Join([]string{limit.Draw(r, "replicas"), limit.Draw(r, "minimum"), limit.Draw(r, "maximum")}, " ")
		}), 1, 6).Draw(r, "subsets")...)
		current := map[string]int32{}
		for _, subset := range subsets {
			current[subset.Name] = rapid.Int32Range(0, 40).Draw(r, "current")
		}
		a, err := allocateWithin(replicas, subsets, current)
		if err != nil {
			r.Fatal(err)
		}
		var sum int32
		for i, n := range a.Replicas {
			sum += n
			if wanted := subsets[i].Replicas; wanted != nil && !a.Resolved {
				if asked, _, _ := specified(wanted, replicas); asked != n {
					r.Fatalf("subset %d asks for %s of %d and gets %d", i, wanted, replicas, n)
				}
			}
			if l, _ := limitsOf(&subsets[i], replicas); limited(subsets) && !a.Resolved && (n < l.least || n > l.most) {
				r.Fatalf("subset %d gets %d, want %d to %d", i, n, l.least, l.most)
			}
		}
		if sum != replicas {
			r.Fatalf("%d pods for %d replicas: %v", sum, replicas, a.Replicas)
		}
	})
}

func BenchmarkAllocate(b *testing.B) {
	for name, wanted := range map[string]string{"equal": "- - -", "resolved": "60% - -"} {
		subsets := within(slices.Repeat([]string{wanted}, 10)...)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Allocate(1001, subsets, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
