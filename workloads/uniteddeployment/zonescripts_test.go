// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
)

// TestZones plays the scripts in testdata/zones: subsets whose nodes are full, with workloads of each kind. What is shown must be the
// same for all kinds; if it is not, each says its own.
//
//	zones a=3 b [of=(Kind,…)]   begins: the subset a has room for three pods, b has plenty. The lines that follow are of the spec
//	edit, image x, feature x    changes it as in TestPlans
//	room a [3], evict a 1       gives a subset other room, or plenty; and deletes pods beyond it
//	slow a, fast a              pods that run there stay unready, or do not
//	lose a 2                    the oldest pods of a subset are gone
//	after 30                    so many seconds later
//	conditions                  of the subsets
func TestZones(t *testing.T) {
	datadriven.Walk(t, "testdata/zones", func(t *testing.T, path string) {
		var all []*zones
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "zones" {
				all = zonesOf(t, d)
			}
			var shown []string
			for _, z := range all {
				z.TB = t
				shown = append(shown, z.command(d))
			}
			if len(slices.Compact(slices.Clone(shown))) == 1 {
				return shown[0]
			}
			var out strings.Builder
			for i, z := range all {
				fmt.Fprintf(&out, "%s: %s", z.kind, shown[i])
			}
			return out.String()
		})
	})
}

// zonesOf are worlds of the kinds that a command names.
func zonesOf(t *testing.T, d *datadriven.TestData) (all []*zones) {
	room, of := map[string]int{}, kinds
	for _, arg := range d.CmdArgs {
		switch {
		case arg.Key == "of":
			of = nil
			for _, kind := range arg.Vals {
				of = append(of, TemplateKind(kind))
			}
		case len(arg.Vals) == 0:
			room[arg.Key] = plenty
		default:
			room[arg.Key] = number(t, arg.Vals[0])
		}
	}
	for _, kind := range of {
		all = append(all, newZones(t, kind, room, strings.Split(d.Input, "\n")...))
	}
	return all
}

func number(t testing.TB, text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (z *zones) command(d *datadriven.TestData) string {
	subset, n := "", plenty
	if len(d.CmdArgs) > 0 {
		subset = d.CmdArgs[0].Key
	}
	if len(d.CmdArgs) > 1 && d.Cmd != "zones" {
		n = number(z, d.CmdArgs[1].Key)
	}
	switch d.Cmd {
	case "edit", "image", "feature":
		return (&scripted{z.world}).run(z.TB.(*testing.T), d)
	case "room":
		z.room[subset] = n
	case "evict":
		z.evict(subset, n)
	case "slow", "fast":
		z.slow[subset] = d.Cmd == "slow"
	case "lose":
		for range n {
			z.delete(z.Pods[slices.IndexFunc(z.Pods, func(pod *corev1.Pod) bool { return subsetOf(pod.Labels) == subset })])
		}
	case "after":
		return z.after(number(z, subset)) + "\n"
	case "conditions":
		var out strings.Builder
		for i := range z.Set.Status.SubsetStatuses {
			s := &z.Set.Status.SubsetStatuses[i]
			c := schedulable(s)
			line := fmt.Sprintf("%s %s since %s %s: %s", s.Name, c.Status, c.LastTransitionTime.Sub(start), c.Reason, c.Message)
			fmt.Fprintln(&out, strings.TrimRight(line, " :"))
		}
		return out.String()
	}
	return ""
}
