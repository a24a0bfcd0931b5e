// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/internal/testing/patches"
)

// TestPlans shows what is planned for a ResourceDistribution to the namespaces ns-1 and ns-2, which have their copies. It is of a Secret, or
// with "sourced" of the source base/registry. To accept a change of behaviour, run the test with -rewrite and read the difference.
//
//	plan [sourced]       plans after what the lines below say:
//	resource PATCH       merges into the resource, before the copies are made
//	copy PATCH           merges into the copy in ns-1
//	missing, nothing     that copy is not there, or is nil
//	distribution PATCH   merges into the ResourceDistribution
//	terminating          ns-1 terminates
//	conflict 1m          a conflict was found in ns-1, so long ago
//	source PATCH         merges into the source; "no-source" takes it away, and "unread" has no sources read
func TestPlans(t *testing.T) {
	datadriven.RunTest(t, "testdata/plans.txt", func(t *testing.T, d *datadriven.TestData) string {
		lines := strings.Split(d.Input, "\n")
		resource := &corev1.Secret{}
		if err := yaml.Unmarshal([]byte(secretYAML), resource); err != nil {
			t.Fatal(err)
		}
		distribution, source := newDistribution(t, secretYAML, all), Object(nil)
		if d.HasArg("sourced") {
			distribution, source = newSourced(t, shellYAML), sourceOf("value")
		}
		for _, line := range lines {
			if patch, is := strings.CutPrefix(line, "resource "); is {
				patches.Merge(t, resource, patch)
				distribution.Spec.Resource.Raw = raw(t, resource).Raw
			}
		}
		s := &Snapshot{Distribution: distribution, Namespaces: namespaces("ns-1", "ns-2"), Now: noon, Sources: source != nil, Source: source}
		s.Copies = stored(NewPlan(s).Create...)
		for _, line := range lines {
			happen(t, s, line)
		}
		return NewPlan(s).String() + "\n"
	})
}

// happen has happen what a line says.
func happen(t *testing.T, s *Snapshot, line string) {
	t.Helper()
	switch word, rest, _ := strings.Cut(line, " "); word {
	case "", "resource":
	case "copy":
		empty := &Snapshot{Distribution: s.Distribution, Namespaces: s.Namespaces, Now: noon, Sources: s.Sources, Source: s.Source}
		object := NewPlan(empty).Create[0].(*corev1.Secret)
		patches.Merge(t, object, rest)
		s.Copies[0] = stored(object)[0]
	case "missing":
		s.Copies = s.Copies[1:]
	case "nothing":
		s.Copies[0] = nil
	case "distribution":
		patches.Merge(t, s.Distribution, rest)
	case "terminating":
		terminating(s.Namespaces[:1])
	case "conflict":
		ago, err := time.ParseDuration(rest)
		if err != nil {
			t.Fatal(err)
		}
		s.Conflicts = map[string]time.Time{"ns-1": noon.Add(-ago)}
	case "source":
		patches.Merge(t, s.Source.(*corev1.Secret), rest)
	case "no-source":
		s.Source = nil
	case "unread":
		s.Sources = false
	default:
		t.Fatalf("no line %s", line)
	}
}
