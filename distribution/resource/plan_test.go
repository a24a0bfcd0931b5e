// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

const all = "allNamespaces: true"

// What a copy is made of. (RD-6)
func TestCopy(t *testing.T) {
	d := newDistribution(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: conf, namespace: elsewhere, labels: {a: b}, annotations: {c: d}, finalizers: [example.com/hold],
		ownerReferences: [{apiVersion: v1, kind: Node, name: node, uid: u}]}, data: {x: "1"}, binaryData: {z: Mg==}}`, all)
	plan := NewPlan(&Snapshot{Distribution: d, Namespaces: namespaces("ns-1"), Now: noon})
	if len(plan.Create) != 1 {
		t.Fatal(plan)
	}
	got := plan.Create[0]
	if want := `ns-1/conf {"binaryData":{"z":"Mg=="},"data":{"x":"1"}} of [Node/u ResourceDistribution/uid-of-pull], finalizers [example.com/hold]`; show(got) != want {
		t.Errorf("%s\nwant %s", show(got), want)
	}
	sum := sha256.Sum256(d.Spec.Resource.Raw)
	if diff := cmp.Diff(map[string]string{"c": "d", v1alpha1.ResourceDistributedFromAnnotation: "pull", v1alpha1.ResourceHashCodeAnnotation: hex.EncodeToString(sum[:])}, got.GetAnnotations()); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"a": "b", v1alpha1.ResourceCopyLabel: "true"}, got.GetLabels()); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	owner := metav1.GetControllerOf(got)
	if owner == nil || owner.APIVersion != "apps.kruise.io/v1alpha1" || owner.Kind != "ResourceDistribution" || owner.Name != "pull" || !*owner.BlockOwnerDeletion {
		t.Errorf("controller %+v", owner)
	}
}

// What is done in a namespace. (RD-4, RD-5, RD-7 to RD-12)
func TestPlan(t *testing.T) {
	secret := func(edit func(*corev1.Secret)) func(*testing.T, *Snapshot) {
		return func(t *testing.T, s *Snapshot) {
			t.Helper()
			object := NewPlan(&Snapshot{Distribution: s.Distribution, Namespaces: s.Namespaces, Now: noon}).Create[0].(*corev1.Secret)
			edit(object)
			s.Copies = append(stored(object), s.Copies[1:]...)
		}
	}
	nothing := func(*corev1.Secret) {}
	for _, test := range []struct {
		name, resource string
		act            func(*testing.T, *Snapshot)
		want           string
	}{
		{"nothing is to be done", secretYAML, secret(nothing), "nothing"},
		{"RD-5: a copy is missing", secretYAML, func(_ *testing.T, s *Snapshot) { s.Copies = s.Copies[1:] }, "create in ns-1"},
		{"RD-5: nil among the copies", secretYAML, func(_ *testing.T, s *Snapshot) { s.Copies[0] = nil }, "create in ns-1"},
		{"RD-4: a namespace terminates", secretYAML, func(_ *testing.T, s *Snapshot) { terminating(s.Namespaces[:1]) },
			"NamespaceNotExists in ns-1: namespace not found or is terminating"},
		{"RD-4: one that is included does not exist", secretYAML, func(_ *testing.T, s *Snapshot) {
			s.Distribution.Spec.Targets = v1alpha1.ResourceDistributionTargets{IncludedNamespaces: v1alpha1.ResourceDistributionTargetNamespaces{List: []v1alpha1.ResourceDistributionNamespace{{Name: "ns-1"}, {Name: "ns-9"}}}}
		}, "delete in ns-2\nNamespaceNotExists in ns-9: namespace not found or is terminating"},
		{"RD-7: another controller", secretYAML, secret(func(s *corev1.Secret) { s.OwnerReferences[0].Name = "other" }), "create in ns-1"},
		{"RD-10: a conflict that was found lately", secretYAML, func(_ *testing.T, s *Snapshot) {
			s.Copies, s.Conflicts = s.Copies[1:], map[string]time.Time{"ns-1": noon.Add(-time.Minute)}
		}, "ConflictOccurred in ns-1: " + errConflict.Error() + "\nagain in 4m0s"},
		{"RD-10: a conflict that was found long ago", secretYAML, func(_ *testing.T, s *Snapshot) {
			s.Copies, s.Conflicts = s.Copies[1:], map[string]time.Time{"ns-1": noon.Add(-5 * time.Minute)}
		}, "create in ns-1"},

		{"RD-8: the data differ", secretYAML, secret(func(s *corev1.Secret) { s.Data["more"] = nil }), "update in ns-1"},
		{"RD-8: the metadata differ", secretYAML, secret(func(s *corev1.Secret) { s.Labels["team"], s.Annotations = "b", nil }), "nothing"},
		{"RD-8: the label is missing", secretYAML, secret(func(s *corev1.Secret) { delete(s.Labels, v1alpha1.ResourceCopyLabel) }), "update in ns-1"},
		{"RD-8: of a former ResourceDistribution", secretYAML, secret(func(s *corev1.Secret) { s.OwnerReferences[0].UID = "former" }), "update in ns-1"},
		{"RD-8: of another version", secretYAML, secret(func(s *corev1.Secret) { s.OwnerReferences[0].APIVersion = "apps.kruise.io/v1beta1" }), "nothing"},
		{"RD-8: of another type", secretYAML, secret(func(s *corev1.Secret) { s.Type = "example.com/key" }), "replace in ns-1"},
		{"RD-8: immutable, and differs", secretYAML, secret(func(s *corev1.Secret) { s.Immutable = new(true) }), "replace in ns-1"},
		{"RD-8: mutable, and is to be immutable", strings.Replace(secretYAML, "type:", "immutable: true, type:", 1), secret(func(s *corev1.Secret) { s.Immutable = nil }), "update in ns-1"},
		{"RD-8: not immutable is the same as nothing", strings.Replace(secretYAML, "type:", "immutable: false, type:", 1), secret(func(s *corev1.Secret) { s.Immutable = nil }), "nothing"},
		{"RD-14: it is about to go, and a finalizer holds it", secretYAML, secret(func(s *corev1.Secret) {
			s.Data, s.DeletionTimestamp, s.Finalizers = nil, new(metav1.NewTime(noon)), []string{"example.com/hold"}
		}), "CreateResourceFailed in ns-1: the copy is being deleted, and is created again when it is gone; its finalizers are example.com/hold"},
		{"RD-8: stringData and no type", `{apiVersion: v1, kind: Secret, metadata: {name: pull}, stringData: {key: value}}`,
			secret(func(s *corev1.Secret) {
				s.Type, s.Data = corev1.SecretTypeOpaque, map[string][]byte{"key": []byte("value")}
			}), "nothing"},

		{"RD-9: it is excluded", secretYAML, func(_ *testing.T, s *Snapshot) {
			s.Distribution.Spec.Targets.ExcludedNamespaces.List = []v1alpha1.ResourceDistributionNamespace{{Name: "ns-1"}}
		}, "delete in ns-1"},
		{"RD-9: it is excluded and terminates", secretYAML, func(_ *testing.T, s *Snapshot) {
			s.Distribution.Spec.Targets.ExcludedNamespaces.List = []v1alpha1.ResourceDistributionNamespace{{Name: "ns-1"}}
			terminating(s.Namespaces[:1])
		}, "nothing"},
		{"RD-9: what another one controls stays", secretYAML, func(t *testing.T, s *Snapshot) {
			secret(func(s *corev1.Secret) { s.OwnerReferences[0].Name = "other" })(t, s)
			s.Distribution.Spec.Targets.ExcludedNamespaces.List = []v1alpha1.ResourceDistributionNamespace{{Name: "ns-1"}}
		}, "nothing"},

		{"RD-11: no manifest", secretYAML, func(_ *testing.T, s *Snapshot) { s.Distribution.Spec.Resource.Raw = []byte("[]") }, "problem: spec.resource: it is no manifest: json: cannot unmarshal array into Go value of type v1.TypeMeta"},
		{"RD-11: a selector that cannot be read", secretYAML, func(_ *testing.T, s *Snapshot) {
			s.Distribution.Spec.Targets.NamespaceLabelSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}
		}, `problem: spec.targets.namespaceLabelSelector: "Like" is not a valid label selector operator`},
		{"RD-12: it is being deleted", secretYAML, func(_ *testing.T, s *Snapshot) {
			s.Copies, s.Distribution.DeletionTimestamp = nil, new(metav1.NewTime(noon))
		}, "nothing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := settled(t, newDistribution(t, test.resource, all), namespaces("ns-1", "ns-2"))
			test.act(t, s)
			if diff := cmp.Diff(test.want, NewPlan(s).String()); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
	for _, s := range []*Snapshot{nil, {}} {
		if plan := NewPlan(s); len(plan.Problems) == 0 || plan.Status(nil, noon) != nil {
			t.Errorf("of %+v: %s", s, plan)
		}
	}
}

// What an update keeps, and what it overwrites. (RD-8)
func TestUpdate(t *testing.T) {
	s := settled(t, newDistribution(t, secretYAML, all), namespaces("ns-1"))
	c := s.Copies[0]
	c.fingerprint = "other"
	c.Labels = map[string]string{"team": "b", "mine": "yes"}
	c.Annotations = map[string]string{"mine": "yes", v1alpha1.ResourceHashCodeAnnotation: "former"}
	c.Finalizers = []string{"example.com/hold"}
	c.OwnerReferences = append(c.OwnerReferences, metav1.OwnerReference{Kind: "Node", UID: "u"})
	plan := NewPlan(s)
	if len(plan.Update) != 1 {
		t.Fatal(plan)
	}
	got := plan.Update[0]
	if want := `ns-1/pull {"data":{"key":"dmFsdWU="},"type":"Opaque"} of [ResourceDistribution/uid-of-pull], finalizers [example.com/hold]`; show(got) != want {
		t.Errorf("%s\nwant %s", show(got), want)
	}
	if got.GetUID() != c.UID || got.GetResourceVersion() != "7" {
		t.Errorf("UID %s at version %s", got.GetUID(), got.GetResourceVersion())
	}
	if diff := cmp.Diff(map[string]string{"team": "a", "mine": "yes", v1alpha1.ResourceCopyLabel: "true"}, got.GetLabels()); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	annotations := got.GetAnnotations()
	if annotations["mine"] != "yes" || annotations[v1alpha1.ResourceHashCodeAnnotation] == "former" || annotations[v1alpha1.ResourceDistributedFromAnnotation] != "pull" {
		t.Errorf("annotations %v", annotations)
	}
}

// A trimmed object says the same as the whole one, and holds nothing of it. (RD-5)
func TestTrim(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Data: map[string][]byte{"key": []byte("password")}}
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Data: map[string]string{"key": "password"}, BinaryData: map[string][]byte{"other": []byte("password")}}
	for _, object := range []Object{secret, configMap} {
		whole := CopyOf(object)
		for range 2 { // it is called again for what it returned
			if _, err := trim(object); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(whole, CopyOf(object), cmp.AllowUnexported(Copy{})); diff != "" {
			t.Errorf("(-whole +trimmed):\n%s", diff)
		}
		if strings.Contains(fmt.Sprintf("%s", object), "password") {
			t.Errorf("it still holds %s", object)
		}
	}
	if other, err := trim("other"); other != "other" || err != nil || CopyOf("other") != nil {
		t.Errorf("something else: %v, %v", other, err)
	}
}

// What the status tells. (RD-14)
func TestStatus(t *testing.T) {
	s := settled(t, newDistribution(t, secretYAML, all), namespaces("ns-1", "ns-2", "ns-3"))
	s.Distribution.Generation = 4
	plan := NewPlan(s)
	status := plan.Status(nil, noon)
	if status == nil || status.Desired != 3 || status.Succeeded != 3 || status.Failed != 0 || status.ObservedGeneration != 4 {
		t.Fatalf("%+v", status)
	}
	var types []string
	for _, c := range status.Conditions {
		types = append(types, string(c.Type))
		if c.Status != "False" || c.Reason != "Succeeded" || len(c.FailedNamespaces) > 0 || !c.LastTransitionTime.Time.Equal(noon) {
			t.Errorf("%+v", c)
		}
	}
	const order = "GetResourceFailed CreateResourceFailed UpdateResourceFailed DeleteResourceFailed ConflictOccurred NamespaceNotExists"
	if got := strings.Join(types, " "); got != order {
		t.Errorf("conditions %s", got)
	}
	s.Distribution.Status = *status
	if again := NewPlan(s).Status(nil, noon.Add(time.Hour)); again != nil {
		t.Errorf("the same is written again: %+v", again)
	}
	failures := []Failure{
		{"ns-2", v1alpha1.ResourceDistributionCreateResourceFailed, fmt.Errorf("late")}, {"ns-1", v1alpha1.ResourceDistributionCreateResourceFailed, fmt.Errorf("early")},
		{"ns-9", v1alpha1.ResourceDistributionDeleteResourceFailed, fmt.Errorf("stays")},
	}
	status = NewPlan(s).Status(failures, noon.Add(time.Hour))
	if status.Succeeded != 1 || status.Failed != 2 {
		t.Errorf("%+v", status)
	}
	created, deleted, other := status.Conditions[1], status.Conditions[3], status.Conditions[0]
	if created.Status != "True" || created.Reason != "late" || fmt.Sprint(created.FailedNamespaces) != "[ns-1 ns-2]" || !created.LastTransitionTime.Time.Equal(noon.Add(time.Hour)) {
		t.Errorf("%+v", created)
	}
	if deleted.Status != "True" || fmt.Sprint(deleted.FailedNamespaces) != "[ns-9]" || other.Status != "False" || !other.LastTransitionTime.Time.Equal(noon) {
		t.Errorf("%+v, %+v", deleted, other)
	}
}

// A condition names so many namespaces, and the status counts all. (RD-24)
func TestStatusOfManyNamespaces(t *testing.T) {
	s := settled(t, newDistribution(t, secretYAML, all), namespaces("ns-1"))
	var failures []Failure
	for i := range 1500 {
		failures = append(failures, Failure{Namespace: fmt.Sprint("ns-", i), Type: v1alpha1.ResourceDistributionCreateResourceFailed, Err: errors.New("late")})
	}
	status := NewPlan(s).Status(failures, noon)
	if status.Failed != 1500 || len(status.Conditions[1].FailedNamespaces) != mostNamespaces {
		t.Errorf("%d failed, %d named", status.Failed, len(status.Conditions[1].FailedNamespaces))
	}
}
