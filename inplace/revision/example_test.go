package revision_test

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
		fmt.Println(image, decision.Action, decision.Revision.Name, decision.Revision.Revision)
	}
	// Output:
	// nginx:1.21 Create demo-7cb569c9cc 1
	// nginx:1.22 Create demo-5b44c7f744 2
	// nginx:1.22 Use demo-5b44c7f744 2
	// nginx:1.21 Raise demo-7cb569c9cc 3
}
