// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
)

// Edit makes a merge patch.
type Edit func(*rand.Rand) string

// Pick returns an edit whose format gets one of the values.
func Pick(format string, values ...any) Edit {
	return func(r *rand.Rand) string { return fmt.Sprintf(format, values[r.IntN(len(values))]) }
}

// AnyEdit makes a patch by one of the edits.
func AnyEdit(r *rand.Rand, edits []Edit) string { return edits[r.IntN(len(edits))](r) }

// Mistake is a merge patch that makes no sense, and the one that takes it back.
type Mistake [2]string

// Err makes a mistake, or takes all of them back.
func (u *User) Err(r *rand.Rand, mistakes []Mistake) {
	if mistake := mistakes[r.IntN(len(mistakes))]; r.IntN(3) == 0 {
		u.Edit(mistake[0])
		return
	}
	for _, mistake := range mistakes {
		u.Edit(mistake[1])
	}
}

// PodLabels are those of the template of a seed. With some seeds hooks hold
// new pods from the beginning.
func PodLabels(r *rand.Rand) map[string]string {
	labels := map[string]string{"app": "web"}
	if r.IntN(2) == 0 {
		labels[HoldDelete], labels[holdUpdate] = "true", "true"
	}
	return labels
}

// Release removes a finalizer of others from the workload. Controllers remove their own.
func (u *User) Release(finalizer string) {
	rest := slices.DeleteFunc(append([]string{}, u.Workload().GetFinalizers()...), func(name string) bool { return name == finalizer })
	list, _ := json.Marshal(rest) // strings always encode
	u.Edit(`{"metadata":{"finalizers":` + string(list) + `}}`)
}

// Disown takes the owner from a pod.
func (u *User) Disown(pod *corev1.Pod) {
	u.PatchPod(pod.Name, `{"metadata":{"ownerReferences":null}}`)
}

// Quarantine takes a pod out of the workload by removing the label that
// selectors match, or puts one back that it took out.
func (u *User) Quarantine(pod *corev1.Pod) {
	app := "null"
	if pod.Labels["app"] == "" {
		app = `"web"`
	}
	u.PatchPod(pod.Name, `{"metadata":{"labels":{"app":`+app+`}}}`)
}

// Corrupt spoils the record of the in-place update of a pod.
func (u *User) Corrupt(pod *corev1.Pod) {
	u.PatchPod(pod.Name, fmt.Sprintf(`{"metadata":{"annotations":{%q:"{"}}}`, inplacev1alpha1.StateAnnotation))
}

// CreateRevision creates a revision that has no owner, which selectors match
// that match only the label app, and that cannot be read.
func (u *User) CreateRevision(name string) {
	_, err := u.history.kube.AppsV1().ControllerRevisions(Web.Namespace).Create(context.Background(), &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "web"}},
		Data:       runtime.RawExtension{Raw: []byte(`{"spec":{"template":7}}`)}, Revision: 1,
	}, metav1.CreateOptions{})
	u.tell("creates the unreadable revision "+name, err)
}

// CreateStranger creates a pod that has no owner, which selectors match
// that match only the label app.
func (u *User) CreateStranger(name string) {
	u.CreatePod(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "theirs"}}},
	})
}

// Lend creates a pod that another controller has, and that names the workload as an owner, so that it is collected with
// it. Selectors match one in two.
func (u *User) Lend(r *rand.Rand) {
	workload, other := u.Workload(), u.AnyObject(revisions, r)
	if other == nil {
		return
	}
	kind := u.kind.Resource.GroupVersionKind
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("lent-", r.IntN(2)), OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "apps/v1", Kind: "ControllerRevision", Name: other.GetName(), UID: other.GetUID(), Controller: new(true)},
			{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Name: workload.GetName(), UID: workload.GetUID()}}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "theirs"}}},
	}
	if r.IntN(2) == 0 {
		pod.Labels = map[string]string{"app": "web"}
	}
	u.CreatePod(pod)
}

// TakeName puts a pod of another owner in the place of one.
func (u *User) TakeName(pod *corev1.Pod) {
	u.DeletePod(pod.Name, new(int64))
	u.CreateStranger(pod.Name)
}
