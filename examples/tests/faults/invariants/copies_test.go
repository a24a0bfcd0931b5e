// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// distributed is a generation of a ResourceDistribution of a ConfigMap, but for excluded namespaces.
func distributed(generation int64, value string, excluded ...string) *distributionv1alpha1.ResourceDistribution {
	d := &distributionv1alpha1.ResourceDistribution{ObjectMeta: metav1.ObjectMeta{Name: "all", UID: "all", Generation: generation}}
	d.Spec.Resource.Raw = fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"shared"},"data":{"key":%q}}`, value)
	d.Spec.Targets.NamespaceLabelSelector.MatchLabels = map[string]string{"team": "a"}
	for _, name := range excluded {
		d.Spec.Targets.ExcludedNamespaces.List = append(d.Spec.Targets.ExcludedNamespaces.List, distributionv1alpha1.ResourceDistributionNamespace{Name: name})
	}
	return d
}

// team is a namespace of a team.
func team(name, of string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{"team": of}}}
}

// copyWith is a copy in a namespace.
func copyWith(namespace, value string, edits ...func(*corev1.ConfigMap)) *corev1.ConfigMap {
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "shared", UID: types.UID("copy-" + namespace),
		OwnerReferences: []metav1.OwnerReference{{Kind: "ResourceDistribution", Name: "all", UID: "all", Controller: new(true)}}}, Data: map[string]string{"key": value}}
	for _, edit := range edits {
		edit(config)
	}
	return config
}

func marked(config *corev1.ConfigMap) {
	metav1.SetMetaDataAnnotation(&config.ObjectMeta, TheirsAnnotation, "yes")
}

func foreign(config *corev1.ConfigMap) { config.OwnerReferences, config.UID = nil, "foreign" }

func TestCopiesAreJudged(t *testing.T) {
	there := slices.Clip([]Change{{New: team("one", "a")}, {New: team("two", "b")}, {New: distributed(1, "1")}})
	second := slices.Clip(append(there, Change{New: distributed(2, "2")}))
	for _, test := range []struct {
		name    string
		changes []Change
		wrong   []invariants.Invariant
	}{
		{"created", append(there, Change{New: copyWith("one", "1")}), nil},
		{"created by an earlier spec", append(second, Change{New: copyWith("one", "1")}), nil},
		{"created where it is not wanted", append(there, Change{New: copyWith("two", "1")}), breaks(invariants.Placement)},
		{"created where it was wanted", append(there, Change{New: team("one", "b")}, Change{New: copyWith("one", "1")}), nil},
		{"created with what no distribution has", append(there, Change{New: copyWith("one", "3")}), breaks(invariants.Partition)},
		{"updated", append(second, Change{Old: copyWith("one", "1"), New: copyWith("one", "2")}), nil},
		{"updated to what no distribution has", append(second, Change{Old: copyWith("one", "1"), New: copyWith("one", "3")}), breaks(invariants.Partition)},
		{"updated for nothing", append(there, Change{Old: copyWith("one", "1"), New: copyWith("one", "1", func(c *corev1.ConfigMap) { c.Labels = map[string]string{"more": "yes"} })}), breaks(invariants.Needless)},
		{"drifts", append(there, Change{Old: copyWith("one", "1"), New: copyWith("one", Theirs)}), nil},
		{"put right", append(there, Change{Old: copyWith("one", Theirs), New: copyWith("one", "1")}), nil},
		{"marked", append(there, Change{Old: copyWith("one", "1"), New: copyWith("one", "1", marked)}), nil},
		{"marked, and deleted", append(there, Change{Old: copyWith("one", "1", marked)}), nil},
		{"deleted", append(there, Change{Old: copyWith("one", "1")}), breaks(invariants.Needless)},
		{"deleted where it is not wanted any more", append(there, Change{New: distributed(2, "1", "one")}, Change{Old: copyWith("one", "1")}), nil},
		{"what others have is deleted", append(there, Change{Old: copyWith("one", "9", foreign)}), nil}, // a stranger, if it has to stay
	} {
		if diff := cmp.Diff(test.wrong, see(NewJudge(), test.changes...)); diff != "" {
			t.Errorf("%s: violated (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestSettledCopiesAreJudged(t *testing.T) {
	counts := func(d *distributionv1alpha1.ResourceDistribution, desired, failed int32, taken ...string) *distributionv1alpha1.ResourceDistribution {
		d.Status = distributionv1alpha1.ResourceDistributionStatus{ObservedGeneration: d.Generation, Desired: desired, Failed: failed, Succeeded: desired - failed}
		condition := distributionv1alpha1.ResourceDistributionCondition{Type: distributionv1alpha1.ResourceDistributionConflictOccurred, Status: "False", FailedNamespaces: taken}
		if len(taken) > 0 {
			condition.Status = "True"
		}
		d.Status.Conditions = append(d.Status.Conditions, condition)
		return d
	}
	for _, test := range []struct {
		name   string
		d      *distributionv1alpha1.ResourceDistribution
		copies []metav1.Object
		wrong  []invariants.Invariant
	}{
		{"as it should be", counts(distributed(1, "1"), 2, 0), objects(copyWith("one", "1"), copyWith("two", "1")), nil},
		{"one is missing", counts(distributed(1, "1"), 2, 0), objects(copyWith("one", "1")), breaks(invariants.Settled)},
		{"one is old", counts(distributed(1, "2"), 2, 0), objects(copyWith("one", "2"), copyWith("two", "1")), breaks(invariants.Settled)},
		{"one is left", counts(distributed(1, "1", "two"), 1, 0), objects(copyWith("one", "1"), copyWith("two", "1")), breaks(invariants.Settled)},
		{"the name is taken", counts(distributed(1, "1"), 2, 1, "two"), objects(copyWith("one", "1"), copyWith("two", "9", foreign)), nil},
		{"the name is taken, and no status says so", counts(distributed(1, "1"), 2, 0), objects(copyWith("one", "1"), copyWith("two", "9", foreign)), breaks(invariants.Status)},
		{"a conflict that there is not", counts(distributed(1, "1"), 2, 0, "two"), objects(copyWith("one", "1"), copyWith("two", "1")), breaks(invariants.Status)},
		{"it counts wrongly", counts(distributed(1, "1"), 3, 0), objects(copyWith("one", "1"), copyWith("two", "1")), breaks(invariants.Status)},
	} {
		j := NewJudge()
		see(j, Change{New: team("one", "a")}, Change{New: team("two", "a")}, Change{New: team("three", "b")}, Change{New: test.d})
		for _, object := range test.copies {
			j.See([]Change{{New: object}}, true)
		}
		if diff := cmp.Diff(test.wrong, kinds(j.Settled())); diff != "" {
			t.Errorf("%s: violated (-want +got):\n%s", test.name, diff)
		}
	}
}
