// SPDX-License-Identifier: Apache-2.0

package revision_test

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/inplace/revision"
)

// A template changes from A to B and back: the revision of A is used again.
func ExampleNext() {
	owner := &metav1.ObjectMeta{Namespace: "default", Name: "demo"}
	kind := schema.GroupVersionKind{Group: "apps.kruise.io", Version: "v1alpha1", Kind: "CloneSet"}
	template := func(image string) *corev1.PodTemplateSpec {
		return &corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "demo"}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}},
		}
	}

	history := map[string]*appsv1.ControllerRevision{}
	for _, image := range []string{"nginx:1.21", "nginx:1.22", "nginx:1.22", "nginx:1.21"} {
		var list []*appsv1.ControllerRevision
		for _, r := range history {
			list = append(list, r)
		}
		wanted, err := revision.New(owner, kind, template(image), revision.NextNumber(list), nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		decision, err := revision.Next(list, wanted)
		if err != nil {
			fmt.Println(err)
			return
		}
		history[decision.Revision.Name] = decision.Revision // A controller creates or updates it.
		fmt.Println(image+":", decision)
	}
	// Output:
	// nginx:1.21: Create demo-7cb569c9cc (1)
	// nginx:1.22: Create demo-5b44c7f744 (2)
	// nginx:1.22: Use demo-5b44c7f744 (2)
	// nginx:1.21: Raise demo-7cb569c9cc to 3
}

// What a workload does about its history. Here its template has gone back to an older one, and revisions that nothing uses are
// beyond the limit.
func ExamplePlan() {
	owner := &metav1.ObjectMeta{Namespace: "default", Name: "demo"}
	kind := schema.GroupVersionKind{Group: "apps.kruise.io", Version: "v1alpha1", Kind: "CloneSet"}
	made := func(image string, number int64) *appsv1.ControllerRevision {
		r, err := revision.New(owner, kind, &corev1.PodTemplateSpec{
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}},
		}, number, nil)
		if err != nil {
			panic(err)
		}
		return r
	}
	history := []*appsv1.ControllerRevision{
		made("nginx:1.19", 1), made("nginx:1.20", 2), made("nginx:1.21", 3), made("nginx:1.22", 4),
	}
	current := history[3].Name
	podLabels := slices.Values([]string{current, current})

	wanted := made("nginx:1.21", revision.NextNumber(history))
	changes, err := revision.Plan(history, wanted, current, podLabels)
	if err != nil {
		fmt.Println(err)
		return
	}
	limit := int32(1)
	changes.Prune(history, &limit, podLabels)
	fmt.Println(changes)
	// Output:
	// current revision demo-5bcf697457, update revision demo-65cf565676
	// raise revision demo-65cf565676 to 5
	// delete revision demo-747f5c864c
}

// Two encoders write the same template in different bytes; no pod is updated for
// that.
func ExampleEqual() {
	r := func(data string) *appsv1.ControllerRevision {
		return &appsv1.ControllerRevision{Data: runtime.RawExtension{Raw: []byte(data)}}
	}
	old := r(`{"spec":{"template":{"$patch":"replace","metadata":{"creationTimestamp":null},"spec":{"containers":[]}}}}`)
	fmt.Println(revision.Equal(old, r(`{"spec":{"template":{"$patch":"replace","metadata":{},"spec":{"containers":null}}}}`)))
	fmt.Println(revision.Equal(old, r(`{"spec":{"template":{"$patch":"replace","metadata":{},"spec":{"containers":null,"hostNetwork":true}}}}`)))
	// Output:
	// true <nil>
	// false <nil>
}

// The bytes of a revision are the same for every writer, and give the template
// back.
func ExampleData() {
	data, err := revision.Data(&corev1.PodTemplateSpec{
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1.21"}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(data))
	fmt.Println(revision.Name("demo", revision.Hash(data, nil)))

	template, err := revision.Template(data)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(template.Spec.Containers[0].Image)
	// Output:
	// {"spec":{"template":{"$patch":"replace","metadata":{"creationTimestamp":null},"spec":{"containers":[{"image":"nginx:1.21","name":"main","resources":{}}]}}}}
	// demo-65cf565676
	// nginx:1.21
}
