// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/patches"
)

// TestPlans shows what is planned for a ResourceDistribution to the namespaces ns-1 and ns-2, which have their copies. It is of a Secret, or
// with "sourced" of the source base/registry. To accept a change of behaviour, run the test with -rewrite and read the difference.
//
//	plan [sourced]       plans after what the lines below say, and with "whole" shows objects as they are written; "status" shows what the status says:
//	resource PATCH       merges into the resource, before the copies are made
//	raw YAML             is another resource, of which there are no copies
//	copy PATCH           merges into the copy in ns-1
//	missing, nothing     that copy is not there, or is nil
//	distribution PATCH   merges into the ResourceDistribution
//	reported 1h          its status says, since so long ago, that all went well
//	failed ns-2 CreateResourceFailed late
//	                     so the API server has answered about a namespace
//	terminating          ns-1 terminates
//	conflict 1m          a conflict was found in ns-1, so long ago
//	source PATCH         merges into the source; "no-source" takes it away, and "unread" has no sources read
//	targets              shows which namespaces the targets that follow are
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata/plans", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "targets" {
				return targeted(t, d.Input)
			}
			s, failures := &Snapshot{Distribution: newDistribution(t, secretYAML, all), Namespaces: namespaces("ns-1", "ns-2"), Now: noon}, []Failure{}
			resource := &corev1.Secret{}
			if d.HasArg("sourced") {
				s.Distribution, s.Sources, s.Source = newSourced(t, shellYAML), true, sourceOf("value")
			} else if err := yaml.Unmarshal([]byte(secretYAML), resource); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(d.Input, "\n")
			for _, line := range lines {
				if patch, is := strings.CutPrefix(line, "resource "); is {
					patches.Merge(t, resource, patch)
					s.Distribution.Spec.Resource.Raw = []byte(patches.JSON(t, resource))
				}
			}
			s.Copies = stored(NewPlan(s).Create...)
			for _, line := range lines {
				if words := strings.Fields(line); len(words) > 0 && words[0] == "failed" {
					failures = append(failures, Failure{words[1], v1alpha1.ResourceDistributionConditionType(words[2]), errors.New(words[3])})
				} else {
					happen(t, s, line)
				}
			}
			plan := NewPlan(s)
			switch said := plan.String() + "\n"; {
			case d.Cmd == "status":
				return showStatus(plan.Status(append(plan.Failed, failures...), noon))
			case d.HasArg("whole"):
				return said + whole(t, plan)
			default:
				return said
			}
		})
	})
}

// targeted shows the namespaces that get a copy. Each that there is matches, or is one of the others.
func targeted(t *testing.T, text string) string {
	targets, err := parseTargets(&newDistribution(t, secretYAML, text).Spec.Targets)
	if err != nil {
		return err.Error()
	}
	existing, there := namespaces("ns-5", "ns-1:one", "ns-2:one", "ns-3", "ns-4:one", "kube-system", "kube-public:one"), 0
	matched, others := targets.namespaces(existing)
	for _, namespace := range existing {
		if targets.match(namespace.Name, namespace.Labels) {
			there++
		}
	}
	if there+len(others) != len(existing) {
		t.Errorf("%d match and %v are others, of %d", there, others, len(existing))
	}
	return fmt.Sprint(matched)
}

// whole shows the copies in ns-1 that are written.
func whole(t *testing.T, plan *Plan) (said string) {
	for _, object := range slices.Concat(plan.Create, plan.Update) {
		if object.GetNamespace() == "ns-1" {
			said += patches.JSON(t, object) + "\n"
		}
	}
	return said
}

func showStatus(status *v1alpha1.ResourceDistributionStatus) string {
	if status == nil {
		return "it is not written"
	}
	said := fmt.Sprintf("%d desired, %d succeeded, %d failed, of generation %d\n", status.Desired, status.Succeeded, status.Failed, status.ObservedGeneration)
	for _, c := range status.Conditions {
		said += fmt.Sprintf("%s=%s %s %v since %s\n", c.Type, c.Status, c.Reason, c.FailedNamespaces, c.LastTransitionTime.Format(time.TimeOnly))
	}
	return said
}

// happen has happen what a line says.
func happen(t *testing.T, s *Snapshot, line string) {
	t.Helper()
	switch word, rest, _ := strings.Cut(line, " "); word {
	case "", "resource":
	case "raw":
		s.Distribution.Spec.Resource, s.Copies = newDistribution(t, rest, all).Spec.Resource, nil
	case "reported":
		s.Distribution.Status = *NewPlan(s).Status(nil, noon.Add(-patches.Duration(t, rest)))
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
		s.Conflicts = map[string]time.Time{"ns-1": noon.Add(-patches.Duration(t, rest))}
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
