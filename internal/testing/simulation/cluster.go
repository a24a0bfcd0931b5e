// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// pods lists the pods that there are by name.
func (h *history) podList() []*corev1.Pod { return sorted[*corev1.Pod](h.records[pods].objects) }

// populate makes what there is beside the workload.
func (h *history) populate() {
	if h.workload.OnlyCreations {
		h.startWebhooks()
	}
	if h.workload.Populate == nil {
		return
	}
	h.workload.Populate(h.user(h.kinds[0]), h.random(0))
	h.follow()
}

// anyPod picks a pod, nil if there is none. It is often one that a request is
// about: who comes in between makes the best scenarios.
func (h *history) anyPod(r *rand.Rand) *corev1.Pod {
	list := h.podList()
	if waiting := h.requests.inOrder(); len(waiting) > 0 && r.IntN(2) == 0 {
		if pod := h.podOf(waiting[r.IntN(len(waiting))].Name); pod != nil {
			return pod
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[r.IntN(len(list))]
}

// actNode has scheduler and kubelet act for a pod, which may not become ready.
func (h *history) actNode(r *rand.Rand) {
	pod := h.anyPod(r)
	if pod == nil {
		return
	}
	works := r.IntN(12) > 0
	if h.reject(pod) {
		return
	}
	h.visitContainer(pod, r)
	defer h.visitContainer(nil, r)
	h.sync(pod, works)
}

// idle is a pod for which the kubelet has found nothing to do.
type idle struct {
	resourceVersion string
	works           bool
}

func (h *history) sync(pod *corev1.Pod, works bool) {
	if pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil && h.lacksClaim(pod) {
		return // the scheduler waits
	}
	if h.starting(pod) || h.isDead(pod) || h.ending != nil && pod.Spec.NodeName == "" {
		return
	}
	if h.waitsForNode(pod) {
		h.reportUnscheduled(pod)
		return
	}
	works = works && !h.ails(pod)
	at := idle{pod.ResourceVersion, works}
	if h.idle[pod.UID] == at {
		h.balance(pod)
		return
	}
	h.setKubelet(pod, works)
	before := h.server.NewestVersion()
	h.must(h.kubelet.SyncPod(context.Background(), pod))
	if h.server.NewestVersion() != before {
		how := map[bool]string{true: "", false: ", and does not get it ready"}[works]
		h.say("kubelet: acts for pod %s%s%s", pod.Name, h.inContainer(pod), how)
		h.settle()
		return
	}
	if !h.endPod(pod, works) && h.visited == "" {
		h.idle[pod.UID] = at
	}
	h.settle()
}

// lacksClaim tells whether a claim that a pod mounts is missing, on its way out, or without a volume.
func (h *history) lacksClaim(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		if v.PersistentVolumeClaim == nil {
			return false
		}
		claim := h.claimNamed(v.PersistentVolumeClaim.ClaimName)
		return claim == nil || claim.DeletionTimestamp != nil || h.workload.VolumesGrow && claim.Status.Phase != corev1.ClaimBound
	})
}

// fallSick lets pods turn unready by themselves for a while: one, or as many as
// in an outage.
func (h *history) fallSick(r *rand.Rand) {
	list := h.podList()
	if r.IntN(2) == 0 {
		list = []*corev1.Pod{h.anyPod(r)}
	}
	until := time.Now().Add([]time.Duration{5 * time.Second, time.Minute, 10 * time.Minute}[r.IntN(3)])
	for _, pod := range list {
		if pod.Spec.NodeName == "" {
			continue
		}
		h.sick[pod.UID] = h.ailment(pod, until, r)
		h.sync(pod, false)
	}
}

// disturbPod lets a pod fail or turn unready, or be deleted by a user,
// gracefully or not.
func (h *history) disturbPod(r *rand.Rand) {
	pod := h.anyPod(r)
	if pod == nil {
		return
	}
	node := &User{history: h, kind: h.kinds[0], name: "node"}
	switch r.IntN(7) {
	case 4, 5, 6:
		h.fallSick(r)
		return
	case 0:
		node.PatchPod(pod.Name, `{"status":{"phase":"Failed"}}`, "status")
	case 1:
		node.PatchPod(pod.Name, `{"status":{"phase":"Failed","reason":"Evicted"}}`, "status")
	case 2:
		h.user(h.kinds[0]).DeletePod(pod.Name, nil)
	case 3: // it vanishes with its node
		node.DeletePod(pod.Name, new(int64))
	}
	h.settle()
}

func (h *history) collectGarbage(*rand.Rand) {
	if n := h.server.CollectGarbage(); n > 0 {
		h.say("garbage collector: deletes %d objects", n)
	}
	h.settle()
	h.collectPods()
}

func (h *history) actUser(r *rand.Rand) {
	k := h.anyKind(r)
	user := h.user(k)
	switch n := r.IntN(50); {
	case user.Workload() == nil && n < 25:
		user.Create()
	case user.Workload() == nil:
	case n == 0:
		user.Delete([]metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan}[r.IntN(3)])
	default:
		k.Act(user, r)
		if k.Rare != nil && r.IntN(rarely) == 0 && user.Workload() != nil { // at last, so that a history is the same until it happens
			k.Rare(user, r)
		}
	}
	h.settle()
}

func (h *history) user(k *kind) *User { return &User{history: h, kind: k, name: "user"} }

func (h *history) anyKind(r *rand.Rand) *kind {
	if len(h.kinds) == 1 { // nothing is drawn
		return h.kinds[0]
	}
	return h.kinds[r.IntN(len(h.kinds))]
}

// User is one who uses the cluster. The trace tells what it does, and what
// of that is refused.
type User struct {
	history *history
	kind    *kind
	name    string
}

// Workload returns the workload, nil if there is none.
func (u *User) Workload() Object {
	h := u.history
	return h.records[u.kind.Resource.Name].objects[Web.Name]
}

// Pods returns the pods by name, and AnyPod one of them, nil if there is none.
func (u *User) Pods() []*corev1.Pod { return u.history.podList() }

// Revisions returns the revisions by name.
func (u *User) Revisions() []*appsv1.ControllerRevision {
	return sorted[*appsv1.ControllerRevision](u.history.records[revisions].objects)
}

// AnyPod picks a pod, nil if there is none.
func (u *User) AnyPod(r *rand.Rand) *corev1.Pod { return u.history.anyPod(r) }

// Delete deletes the workload. What it owned goes when the garbage is collected:
// with the foreground policy before it, with the orphan policy not at all.
func (u *User) Delete(policy metav1.DeletionPropagation) {
	u.DeleteObject(u.kind.Resource.Name, Web.Name, policy)
}

// Create creates the workload again, as it was in the beginning.
func (u *User) Create() { u.tell("creates the workload", u.history.create(u.kind)) }

// CreateAs creates the workload again, as given, with the name of Web.
func (u *User) CreateAs(object Object) {
	u.tell("creates the workload another way", u.history.createAs(u.kind, object))
}

// Doomed is a pod whose deletion the controller has sent, and that has not
// arrived yet; nil if there is none.
func (u *User) Doomed() *corev1.Pod {
	for _, r := range u.history.requests.inOrder() {
		if pod := u.history.podOf(r.Name); pod != nil && r.Verb == "delete" && r.Resource == pods {
			return pod
		}
	}
	return nil
}

// Edit changes the workload by a merge patch.
func (u *User) Edit(patch string) { u.Patch(u.kind.Resource.Name, Web.Name, patch) }

// PatchPod changes a pod by a strategic-merge patch.
func (u *User) PatchPod(name, patch string, subresources ...string) {
	u.tell(fmt.Sprintf("patches pod %s %s", name, patch), u.history.kube.CoreV1().RESTClient().Patch(types.StrategicMergePatchType).
		Namespace(Web.Namespace).Resource(pods).Name(name).SubResource(subresources...).Body([]byte(patch)).Do(context.Background()).Error())
}

// Namespace is the namespace of the pods, nil if its labels do not matter.
func (u *User) Namespace() *corev1.Namespace {
	record := u.history.records[namespaces]
	if record == nil {
		return nil
	}
	namespace, _ := record.objects[Web.Namespace].(*corev1.Namespace)
	return namespace
}

// PatchNamespace changes the namespace of the pods by a merge patch.
func (u *User) PatchNamespace(patch string) {
	_, err := u.history.kube.CoreV1().Namespaces().Patch(context.Background(), Web.Namespace, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	u.tell("patches the namespace "+patch, err)
}

// DeletePod deletes a pod; a nil grace is the pod's own.
func (u *User) DeletePod(name string, grace *int64) {
	how := "deletes pod " + name
	if grace != nil {
		how += fmt.Sprintf(" within %d s", *grace)
	}
	u.tell(how, u.history.kube.CoreV1().Pods(Web.Namespace).Delete(context.Background(), name, metav1.DeleteOptions{GracePeriodSeconds: grace}))
}

// DeleteClaim deletes a claim. It stays, and is on its way out, while a pod on a
// node mounts it.
func (u *User) DeleteClaim(name string) {
	u.tell("deletes claim "+name, u.history.kube.CoreV1().PersistentVolumeClaims(Web.Namespace).Delete(context.Background(), name, metav1.DeleteOptions{}))
}

// UpdatePod writes a pod and its status as they are given. It sends no write that changes nothing.
func (u *User) UpdatePod(what string, pod *corev1.Pod) {
	api, pod := u.history.kube.CoreV1().Pods(Web.Namespace), pod.DeepCopy()
	pod.ResourceVersion = ""
	var err error
	status, rest := u.differs(pod)
	if status {
		_, err = api.UpdateStatus(context.Background(), pod, metav1.UpdateOptions{})
	}
	if rest && err == nil {
		_, err = api.Update(context.Background(), pod, metav1.UpdateOptions{})
	}
	u.tell(what+" of pod "+pod.Name, err)
}

// differs tells whether a pod differs from the stored one in what a write of its status changes, and in the rest.
func (u *User) differs(pod *corev1.Pod) (status, rest bool) {
	all, err := u.history.server.Pods(pod.Namespace)
	i := slices.IndexFunc(all, func(p corev1.Pod) bool { return p.Name == pod.Name && p.UID == pod.UID })
	if err != nil || i < 0 {
		return true, true
	}
	same, was := equality.Semantic.DeepEqual, &all[i]
	status = !same(was.Status, pod.Status) || !same(was.Labels, pod.Labels) || !same(was.Annotations, pod.Annotations)
	was.Labels, was.Annotations, was.ResourceVersion = pod.Labels, pod.Annotations, pod.ResourceVersion
	return status, !same(was.ObjectMeta, pod.ObjectMeta) || !same(was.Spec, pod.Spec)
}

// CreatePod creates a pod.
func (u *User) CreatePod(pod *corev1.Pod) {
	_, err := u.history.kube.CoreV1().Pods(Web.Namespace).Create(context.Background(), pod, metav1.CreateOptions{})
	u.tell("creates pod "+pod.Name, err)
}

func (u *User) tell(what string, err error) {
	if err != nil {
		what = fmt.Sprintf("%s, and is refused: %v", what, err)
	}
	u.history.say("%s: %s", u.name, what)
}

// Merge changes an object by a merge patch: what that has null for is gone. It panics if either is none.
func Merge(object Object, patch string) {
	data, err := json.Marshal(object)
	is := reflect.ValueOf(object).Elem()
	merged := reflect.New(is.Type())
	if err == nil {
		data, err = jsonpatch.MergePatch(data, []byte(patch))
	}
	if err == nil {
		err = json.Unmarshal(data, merged.Interface())
	}
	if err != nil {
		panic(fmt.Sprintf("merge %s: %v", patch, err))
	}
	is.Set(merged.Elem())
}

func (k *kind) path() string { return k.pathIn(Web.Namespace) }

func (k *kind) pathIn(namespace string) string {
	r, api := &k.Resource, "/apis/"
	if r.Group == "" {
		api = "/api/"
	}
	if r.ClusterScoped {
		return fmt.Sprintf("%s%s/%s", api, r.GroupVersion(), r.Name)
	}
	return fmt.Sprintf("%s%s/namespaces/%s/%s", api, r.GroupVersion(), namespace, r.Name)
}

func (h *history) create(k *kind) error { return h.createAs(k, k.Create(h.random(0))) }

func (h *history) createAs(k *kind, object Object) error {
	if !k.Resource.ClusterScoped {
		object.SetNamespace(Web.Namespace)
	}
	object.SetName(Web.Name)
	return h.post(k.path(), object)
}

func (h *history) post(path string, object Object) error {
	return h.kube.CoreV1().RESTClient().Post().AbsPath(path).SetHeader("Content-Type", "application/json").
		Body(raw(object)).Do(context.Background()).Error()
}
