// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// secretYAML is the resource of tests that do not say another one.
const secretYAML = `{apiVersion: v1, kind: Secret, metadata: {name: pull, labels: {team: a}}, type: Opaque, data: {key: dmFsdWU=}}`

// newDistribution is a ResourceDistribution of a resource, both in YAML.
func newDistribution(t testing.TB, resource, targets string) *v1alpha1.ResourceDistribution {
	t.Helper()
	d := &v1alpha1.ResourceDistribution{ObjectMeta: metav1.ObjectMeta{Name: "pull", UID: "uid-of-pull", Generation: 1}}
	raw, err := yaml.YAMLToJSON([]byte(resource))
	if err == nil {
		d.Spec.Resource.Raw = raw
		err = yaml.UnmarshalStrict([]byte(targets), &d.Spec.Targets)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// namespaces are namespaces, each with what follows the first colon as the value of its label group.
func namespaces(names ...string) (all []*corev1.Namespace) {
	for _, name := range names {
		name, group, labelled := strings.Cut(name, ":")
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if labelled {
			namespace.Labels = map[string]string{"group": group}
		}
		all = append(all, namespace)
	}
	return all
}

// terminating has namespaces terminate.
func terminating(all []*corev1.Namespace) []*corev1.Namespace {
	for _, namespace := range all {
		namespace.DeletionTimestamp = new(metav1.NewTime(noon))
	}
	return all
}

// stored are objects as the API server has them, once they are written.
func stored(objects ...Object) (copies []*Copy) {
	for _, object := range objects {
		object = object.DeepCopyObject().(Object)
		object.SetUID(types.UID("uid-of-" + nameOf(object)))
		object.SetResourceVersion("7")
		copies = append(copies, CopyOf(object))
	}
	return copies
}

// settled is a snapshot in which all copies are there.
func settled(t testing.TB, d *v1alpha1.ResourceDistribution, all []*corev1.Namespace) *Snapshot {
	t.Helper()
	s := &Snapshot{Distribution: d, Namespaces: all, Now: noon}
	s.Copies = stored(NewPlan(s).Create...)
	if plan := NewPlan(s); len(plan.Create)+len(plan.Update)+len(plan.Replace)+len(plan.Delete) > 0 {
		t.Fatalf("not settled:\n%s", plan)
	}
	return s
}
