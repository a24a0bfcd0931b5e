// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
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

// TakeBack takes back the mistakes that were made, which are those that would change nothing. It changes the workload, as it was read, too.
func (u *User) TakeBack(workload Object, mistakes ...Mistake) {
	for _, mistake := range mistakes {
		again := workload.DeepCopyObject().(Object)
		if Merge(again, mistake[0]); equality.Semantic.DeepEqual(again, workload) {
			u.Edit(mistake[1])
			Merge(workload, mistake[1])
		}
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

// resource is how the API server knows a resource of the history, which must have it.
func (h *history) resource(name string) *fakecluster.Resource {
	for _, k := range h.kinds {
		if k.Resource.Name == name {
			return &k.Resource
		}
	}
	for i := range h.workload.Further {
		if f := &h.workload.Further[i]; f.Resource.Name == name {
			return &f.Resource
		}
	}
	panic("the history has no " + name)
}

// pathOf is the path of an object of a resource that is called name, or NAMESPACE/NAME.
func (h *history) pathOf(resource, name string) string {
	k, namespace := kind{Subject: &Subject{Resource: *h.resource(resource)}}, Web.Namespace
	if in, of, found := strings.Cut(name, "/"); found {
		namespace, name = in, of
	}
	return k.pathIn(namespace) + "/" + name
}

// Objects returns the objects of a resource by namespace and name.
func (u *User) Objects(resource string) []Object {
	return sorted[Object](u.history.records[resource].objects)
}

// AnyObject picks an object of a resource, nil if there is none.
func (u *User) AnyObject(resource string, r *rand.Rand) Object {
	all := u.Objects(resource)
	if len(all) == 0 {
		return nil
	}
	return all[r.IntN(len(all))]
}

// Patch changes an object of a resource by a merge patch. Its name is NAMESPACE/NAME if it is not in the namespace of Web.
func (u *User) Patch(resource, name, patch string, subresources ...string) {
	u.tell(fmt.Sprintf("patches %s %s %s", resource, name, patch), u.history.kube.CoreV1().RESTClient().Patch(types.MergePatchType).
		AbsPath(append([]string{u.history.pathOf(resource, name)}, subresources...)...).Body([]byte(patch)).Do(context.Background()).Error())
}

// DeleteObject deletes an object of a resource. Its name is NAMESPACE/NAME if it is not in the namespace of Web.
func (u *User) DeleteObject(resource, name string, policy metav1.DeletionPropagation) {
	u.tell(fmt.Sprintf("deletes %s %s (%s)", resource, name, policy), u.history.kube.CoreV1().RESTClient().Delete().AbsPath(u.history.pathOf(resource, name)).
		Body(&metav1.DeleteOptions{PropagationPolicy: &policy}).Do(context.Background()).Error())
}

// CreateObject creates an object of a resource, in the namespace of Web unless it has one.
func (u *User) CreateObject(resource string, object Object) {
	k := kind{Subject: &Subject{Resource: *u.history.resource(resource)}}
	err := u.history.post(k.pathIn(cmp.Or(object.GetNamespace(), Web.Namespace)), object)
	u.tell(fmt.Sprintf("creates %s %s", resource, keyOfObject(object)), err)
}

// Admit asks a replica of the webhook about an object that is to be created, as the API server does before it stores it. Nil:
// there is none.
func (u *User) Admit(request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return (&Process{history: u.history}).Create(context.Background(), request)
}

// ReadyNode has a node of a name with a label Ring, which takes all pods.
func (u *User) ReadyNode(name, ring string) { u.readyNode(name, "a", ring) }

// LabelNode changes labels of a node that is there: a nil value takes one away.
func (u *User) LabelNode(name string, labels map[string]any) {
	if u.history.records[nodes].objects[name] != nil {
		u.tell(fmt.Sprintf("labels node %s %v", name, labels), u.history.patchNode(name, map[string]any{"metadata": map[string]any{"labels": labels}}))
	}
}

func (u *User) readyNode(name, zone, ring string) {
	h := u.history
	if h.records[nodes].objects[name] == nil {
		u.tell("adds node "+name, h.join(name, zone, ring))
		return
	}
	if h.dead[name] {
		return // users cannot help it
	}
	err := h.patchNode(name, map[string]any{"spec": map[string]any{"taints": nil, "unschedulable": nil},
		"metadata": map[string]any{"labels": map[string]any{Zone: zone, Ring: ring}}})
	u.tell("repairs node "+name, err)
}

// Ready tells users and models of other controllers whether a pod is ready.
func Ready(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue })
}

// Active tells them whether a pod is there to stay: it has not ended, and is not being deleted.
func Active(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && !ended(pod)
}

func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// Ordinal returns the ordinal at the end of the name of a pod, and -1 if there is none.
func Ordinal(pod *corev1.Pod) int {
	ordinal, err := strconv.Atoi(pod.Name[strings.LastIndex(pod.Name, "-")+1:])
	if err != nil || !strings.Contains(pod.Name, "-") {
		return -1
	}
	return ordinal
}

// Edited is an object of the kind that a history is about, before and after users changed it.
type Edited struct{ Before, After Object }

// usersPause is after how many moves of users everybody else acts undisturbed, so that there are pods to act upon.
const usersPause = 50

// Edits plays so many moves of the users of a seed, drawn as in its histories, and little besides. It returns what they
// changed about the objects of the kind. Nothing is judged.
func Edits(t *testing.T, w *Subject, seed uint64, moves int) (all []Edited) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := newHistory(t, w, &outcome{Seed: seed, Steps: moves})
		for _, k := range h.kinds {
			k.judge = Judge{Write: func(*invariants.Write) []invariants.Violation { return nil }}
		}
		defer h.stop()
		h.begin()
		for h.step = 1; h.step <= moves; h.step++ {
			all = append(all, h.edit()...)
		}
	})
	return all
}

// edit has users make one move, and returns what they changed.
func (h *history) edit() (edits []Edited) {
	record := h.records[h.workload.Resource.Name]
	if h.step%usersPause == 0 {
		time.Sleep(time.Minute)
		h.calm(h.random(h.step))
	}
	from := len(record.changes)
	h.actUser(h.random(h.step))
	for _, c := range record.changes[from:] {
		if c.before != nil && !c.gone {
			edits = append(edits, Edited{c.before, c.object})
		}
	}
	return edits
}

// userFile has what users of the histories of a package change.
const userFile = "testdata/users.txt"

// lists are the lines of a list in userFile, by its name. Lines that are blank or begin with # say nothing.
var lists = sync.OnceValue(func() map[string][]string {
	data, err := os.ReadFile(userFile)
	if err != nil {
		panic(err)
	}
	all, list := map[string][]string{}, ""
	for line := range strings.Lines(string(data)) {
		switch line = strings.TrimSpace(line); {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			list = strings.Trim(line, "[]")
		default:
			all[list] = append(all[list], line)
		}
	}
	return all
})

// list returns a list, of which each entry is a line, and those that begin with a mark after it.
func list(name, mark string) (entries [][]string) {
	for _, line := range lists()[name] {
		if rest, more := strings.CutPrefix(line, mark+" "); more {
			last := len(entries) - 1
			entries[last] = append(entries[last], rest)
			continue
		}
		entries = append(entries, []string{line})
	}
	if len(entries) == 0 {
		panic(fmt.Sprintf("%s has no list [%s]", userFile, name))
	}
	return entries
}

// ReadEdits returns a list of edits from testdata/users.txt. An entry is what Pick takes: a format, "<-" and values, between which
// stands "|". Values may stand on lines of their own, behind a "|" each.
func ReadEdits(name string) (edits []Edit) {
	for _, entry := range list(name, "|") {
		format, values, _ := strings.Cut(entry[0], " <-")
		all := []any{}
		for _, text := range append([]string{values}, entry[1:]...) {
			for value := range strings.SplitSeq(text, " | ") {
				if value = strings.TrimSpace(value); value != "" {
					all = append(all, value)
				}
			}
		}
		edits = append(edits, Pick(format, all...))
	}
	return edits
}

// ReadMistakes returns a list of mistakes from testdata/users.txt. Behind each patch stands, with "=>", the one that takes it back.
func ReadMistakes(name string) (mistakes []Mistake) {
	for _, entry := range list(name, "=>") {
		mistakes = append(mistakes, Mistake{entry[0], entry[1]})
	}
	return mistakes
}
