// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// subsetsOf are subsets t1, t2 and so on that ask for these replicas, "" for none.
func subsetsOf(wanted ...string) (all []v1alpha1.Subset) {
	for i, w := range wanted {
		subset := v1alpha1.Subset{Name: fmt.Sprint("t", i+1)}
		if w != "" {
			subset.Replicas = new(intstr.Parse(w))
		}
		all = append(all, subset)
	}
	return all
}

func TestAllocate(t *testing.T) {
	type w = []string
	open := w{"", "", "", ""}
	for _, test := range []struct {
		name     string
		replicas int32
		wanted   []string
		current  []int32
		want     []int32
		resolved bool
	}{
		{"UD-3.3: less than there is", 5, open, []int32{1, 4, 2, 2}, []int32{1, 2, 1, 1}, false},
		{"UD-3.3: more than there is", 17, open, []int32{1, 4, 2, 2}, []int32{4, 5, 4, 4}, false},
		{"UD-3.3: two", 19, w{"", ""}, []int32{0, 10}, []int32{9, 10}, false},
		{"UD-3.3: some ask", 27, w{"4", "", "4", ""}, []int32{1, 4, 2, 2}, []int32{4, 10, 4, 9}, false},
		{"UD-3.3: nothing is left", 8, w{"4", "", "4", ""}, []int32{2, 4, 2, 2}, []int32{4, 0, 4, 0}, false},
		{"UD-3.3: both new, the later name has more", 5, w{"", ""}, nil, []int32{2, 3}, false},
		{"UD-3.1: a percentage", 7, w{"40%", ""}, nil, []int32{3, 4}, false},
		{"UD-3.1: a half is rounded up", 5, w{"30%", ""}, nil, []int32{2, 3}, false},
		{"UD-3.1: 0% and 100%", 5, w{"0%", "100%", ""}, nil, []int32{0, 5, 0}, false},
		{"UD-3: all add up", 6, w{"2", "4"}, nil, []int32{2, 4}, false},
		{"UD-3: scaled to 0", 0, open, []int32{1, 4, 2, 2}, []int32{0, 0, 0, 0}, false},
		{"UD-3: no subsets", 5, nil, nil, []int32{}, false},
		{"UD-3: negative replicas", -3, w{"", ""}, nil, []int32{0, 0}, false},
		{"UD-3.2: percentages whose rounding is too much", 5, w{"50%", "50%"}, nil, []int32{3, 2}, true},
		{"UD-3.2: percentages whose rounding is too little", 10, w{"33%", "33%", "34%"}, nil, []int32{3, 3, 4}, true},
		{"UD-3.2: scaled up beyond what all ask for", 9, w{"2", "2", "2"}, nil, []int32{3, 3, 3}, true},
		{"UD-3.2: scaled up, in proportion", 12, w{"1", "2", "3"}, nil, []int32{2, 4, 6}, true},
		{"UD-3.2: scaled down below what some ask for", 4, w{"6", "2", ""}, nil, []int32{3, 1, 0}, true},
		{"UD-3.2: numbers and percentages", 12, w{"10", "50%"}, nil, []int32{8, 4}, true},
		{"UD-3.2: all ask for none", 5, w{"0", "0"}, nil, []int32{3, 2}, true},
		{"UD-3.2: scaled to 0", 0, w{"2", "2"}, nil, []int32{0, 0}, true},
		{"UD-3.2: large numbers", math.MaxInt32, w{"2147483647", "2147483647", "100%"}, nil, []int32{715827883, 715827882, 715827882}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			current := map[string]int32{}
			for i, n := range test.current {
				current[fmt.Sprint("t", i+1)] = n
			}
			got, err := Allocate(test.replicas, subsetsOf(test.wanted...), current)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(Allocation{test.want, test.resolved}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for wanted, problem := range map[string]string{
		"-1": "must be 0 or more, is -1", "101%": `"101%"`, "-5%": `"-5%"`, "x": `"x"`, "1.5%": `"1.5%"`, "%": `"%"`,
	} {
		if _, err := Allocate(5, subsetsOf("", wanted), nil); err == nil || !contains(err.Error(), "spec.topology.subsets[1].replicas: ", problem) {
			t.Errorf("%s: error %v", wanted, err)
		}
	}
}

// within are subsets t1, t2 and so on with "replicas minimum maximum", "-" for none.
func within(t *testing.T, wanted ...string) (all []v1alpha1.Subset) {
	t.Helper()
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

func TestAllocateWithin(t *testing.T) {
	type w = []string
	for _, test := range []struct {
		name     string
		replicas int32
		wanted   []string
		want     []int32
		resolved bool
	}{
		{"UD-20: no limits, as without them", 5, w{"2 - -", "- - -", "- - -"}, []int32{2, 1, 2}, false},
		{"UD-20: minima first, then in order", 10, w{"- 2 4", "- 2 -", "- 2 -"}, []int32{4, 4, 2}, false},
		{"UD-20: exactly the minima", 6, w{"- 2 4", "- 2 -", "- 2 -"}, []int32{2, 2, 2}, false},
		{"UD-20: exactly the maxima", 6, w{"- - 2", "- - 1", "- 1 3"}, []int32{2, 1, 3}, false},
		{"UD-20: no minimum is 0, no maximum is no limit", 7, w{"- - 3", "- - -", "- - -"}, []int32{3, 4, 0}, false},
		{"UD-20: percentages, a half is rounded up", 5, w{"- 30% 50%", "- 10% -"}, []int32{3, 2}, false},
		{"UD-20: percentages of none", 0, w{"- 30% 50%", "- 10% -"}, []int32{0, 0}, false},
		{"UD-20: numbers and percentages", 10, w{"- 1 30%", "- 20% 3", "- - -"}, []int32{3, 3, 4}, false},
		{"UD-20: others have replicas", 10, w{"- 1 3", "4 - -", "- - -"}, []int32{3, 4, 3}, false},
		{"UD-20: replicas count, not limits beside them", 10, w{"5 1 3", "- - -"}, []int32{5, 5}, false},
		{"UD-20: negative replicas", -1, w{"- 0 3", "- - -"}, []int32{0, 0}, false},
		{"UD-20: the minima are more than there are", 4, w{"- 6 -", "- 2 -", "- - -"}, []int32{3, 1, 0}, true},
		{"UD-20: minima and replicas are more than there are", 4, w{"- 2 -", "6 - -"}, []int32{1, 3}, true},
		{"UD-20: the maxima are less than there are", 9, w{"- 1 2", "- - 1"}, []int32{6, 3}, true},
		{"UD-20: maxima and replicas are less than there are", 9, w{"2 - -", "- - 1"}, []int32{6, 3}, true},
		{"UD-20: the maxima are 0", 3, w{"- - 0", "- - 0%"}, []int32{2, 1}, true},
		{"UD-20: rounding makes the maxima less", 10, w{"- - 33%", "- - 33%", "- - 34%"}, []int32{3, 3, 4}, true},
		{"UD-20: a minimum above the maximum", 10, w{"- 50% 3", "- - -"}, []int32{3, 7}, true},
		{"UD-20: large numbers", math.MaxInt32, w{"- 2147483647 -", "- 2147483647 -", "- - -"}, []int32{1073741824, 1073741823, 0}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := allocateWithin(test.replicas, within(t, test.wanted...), nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(Allocation{test.want, test.resolved}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for wanted, problem := range map[string]string{"- -1 -": "minReplicas: must be 0 or more, is -1", "- - 101%": "maxReplicas: ", "x - 1": "replicas: "} {
		if _, err := allocateWithin(5, within(t, "- - -", wanted), nil); err == nil || !contains(err.Error(), "spec.topology.subsets[1]."+problem) {
			t.Errorf("%s: error %v", wanted, err)
		}
	}
}

// UD-20: whatever the limits are, the subsets add up to spec.replicas, and if the limits
// leave a choice each is kept.
func TestAllocateWithinAddsUp(t *testing.T) {
	value := rapid.OneOf(rapid.Just("-"), rapid.Map(rapid.Int32Range(0, 40), func(n int32) string { return fmt.Sprint(n) }),
		rapid.Map(rapid.IntRange(0, 100), func(n int) string { return fmt.Sprint(n, "%") }))
	rapid.Check(t, func(r *rapid.T) {
		replicas := rapid.Int32Range(0, 60).Draw(r, "replicas")
		subsets := within(t, rapid.SliceOfN(rapid.Custom(func(r *rapid.T) string {
			return strings.Join([]string{rapid.OneOf(rapid.Just("-"), value).Draw(r, "replicas"), value.Draw(r, "minimum"), value.Draw(r, "maximum")}, " ")
		}), 1, 6).Draw(r, "subsets")...)
		a, err := allocateWithin(replicas, subsets, nil)
		if err != nil {
			r.Fatal(err)
		}
		var sum int32
		for i, n := range a.Replicas {
			sum += n
			if l, _ := limitsOf(&subsets[i], replicas); limited(subsets) && !a.Resolved && (n < l.least || n > l.most) {
				r.Fatalf("subset %d gets %d, want %d to %d", i, n, l.least, l.most)
			}
		}
		if sum != replicas {
			r.Fatalf("%d pods for %d replicas: %v", sum, replicas, a.Replicas)
		}
	})
}

// edits is how many random edits of a UnitedDeployment are made.
const edits = 1_000_000

// UD-3: after each of a million random edits the subsets add up to spec.replicas. A subset gets what it asks for whenever that
// adds up.
func TestAllocateAddsUp(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var (
		replicas int32
		subsets  []v1alpha1.Subset
		names    int
		current  = map[string]int32{}
		resolved int
	)
	for edit := range edits {
		switch n := len(subsets); {
		case n == 0 || n < 8 && random.IntN(8) == 0:
			names++
			subsets = append(subsets, v1alpha1.Subset{Name: fmt.Sprint("s", names%32)})
			delete(current, subsets[n].Name)
		case random.IntN(12) == 0:
			at := random.IntN(n)
			subsets = append(subsets[:at:at], subsets[at+1:]...)
		case random.IntN(3) == 0:
			replicas = random.Int32N(1 << random.IntN(20))
		default:
			subset := &subsets[random.IntN(n)]
			switch random.IntN(4) {
			case 0:
				subset.Replicas = nil
			case 1:
				subset.Replicas = new(intstr.FromInt32(random.Int32N(max(replicas, 1))))
			default:
				subset.Replicas = new(intstr.FromString(fmt.Sprint(random.IntN(101), "%")))
			}
		}
		a, err := Allocate(replicas, subsets, current)
		if err != nil {
			t.Fatal(err)
		}
		var sum int64
		for i, n := range a.Replicas {
			if n < 0 {
				t.Fatalf("edit %d: subset %d of %v gets %d", edit, i, subsets, n)
			}
			if wanted := subsets[i].Replicas; wanted != nil && !a.Resolved {
				if asked, _, _ := specified(wanted, replicas); asked != n {
					t.Fatalf("edit %d: subset %d asks for %s of %d and gets %d", edit, i, wanted, replicas, n)
				}
			}
			sum += int64(n)
			current[subsets[i].Name] = n
		}
		if len(subsets) > 0 && sum != int64(replicas) {
			t.Fatalf("edit %d: %d pods for %d replicas over %v", edit, sum, replicas, subsets)
		}
		if a.Resolved {
			resolved++
		}
	}
	if resolved < edits/10 || resolved > edits*9/10 {
		t.Errorf("what subsets ask for was changed %d times of %d: the test does not play both", resolved, edits)
	}
}

func BenchmarkAllocate(b *testing.B) {
	for name, wanted := range map[string]string{"equal": "", "resolved": "60%"} {
		subsets := subsetsOf(wanted, wanted, wanted, wanted, wanted, wanted, wanted, wanted, wanted, wanted)
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

// UD-3.4: without spec.replicas the subsets keep what they give, or what they have.
func TestReplicasAbsent(t *testing.T) {
	for _, test := range []struct {
		name     string
		topology string
		runs     bool // a has a workload of 2 pods and b one of 3
		want     []int32
	}{
		{"numbers", "{name: a, replicas: 2}, {name: b, replicas: 3}", false, []int32{2, 3}},
		{"a number, and what runs", "{name: a, replicas: 4}, {name: b}", true, []int32{4, 3}},
		{"a number, and nothing runs", "{name: a, replicas: 4}, {name: b}", false, []int32{4, 0}},
		{"what runs", "{name: a}, {name: b}", true, []int32{2, 3}},
		{"a percentage is of nothing", "{name: a, replicas: 40%}, {name: b}", true, []int32{2, 3}},
		{"nothing", "{name: a}, {name: b}", false, []int32{0, 1}},
	} {
		w := newWorld(t, newSet(t, "replicas: 5", "topology: {subsets: [{name: a, replicas: 2}, {name: b}]}"))
		if test.runs {
			w.settle()
		}
		w.Set.Spec = newSet(t, "topology: {subsets: ["+test.topology+"]}").Spec
		var got []int32
		for _, subset := range NewPlan(&w.Snapshot).Subsets {
			got = append(got, subset.Replicas)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	w := newWorld(t, newSet(t, "topology: {scheduleStrategy: {type: Adaptive}, subsets: [{name: a}]}"))
	if w.Features.AdaptiveScheduling = true; !contains(NewPlan(&w.Snapshot).String(), "problem: spec.replicas: must be given") {
		t.Error("with Adaptive it must be given: " + NewPlan(&w.Snapshot).String())
	}
}
