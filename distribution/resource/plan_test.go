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

func TestNothingToPlanFor(t *testing.T) {
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
