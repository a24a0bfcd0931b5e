// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"k8s.io/apimachinery/pkg/util/intstr"

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
