// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// TestStories plays the stories in testdata: see fixture.PlayStories. Options are features by name, budget=n, jobs, and placement=name: it does
// not know the place of that pod before "known". "asked" and "budget n" are about the budget. "jobs" shows what was pulled ahead; with a word the
// jobs fail, or cannot be read. "nodes" has nodes answer with a reason to resizes of a pod that is there. "class" says what the storage class
// is: grows, rigid or missing. "calm" lets two hours pass, and says if the controller was busy.
func TestStories(t *testing.T) {
	kind := fakecluster.CustomResource(v1beta1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets")
	fixture.PlayStories(t, "testdata/stories", kind, func(f *fixture.Cluster) *fixture.Story {
		c := &cluster{Cluster: f}
		c.setUp()
		return &fixture.Story{
			Stable: true, New: func(replicas int32) any { return testSet(replicas) }, Restart: c.restart, Waiting: c.waits, Option: c.option,
			Start: func() (*fixture.Reconciles, func()) { return c.start() },
			Further: map[string]func(...string) string{
				"asked":  func(...string) string { return fmt.Sprintln(c.options.Budget.(*budget).asked) },
				"budget": func(words ...string) string { c.options.Budget.(*budget).left, _ = strconv.Atoi(words[0]); return "" },
				"known":  func(...string) string { c.options.Placement.(*placement).unknown = ""; return "" },
				"jobs":   c.jobs, "nodes": c.nodes, "calm": c.calm, "class": c.class, "class-reads": func(...string) string { return fmt.Sprintln(c.classReads) },
				"labels": c.labels, "places": c.places, "sizes": c.sizes, "lend-claim": c.lendClaim, "create-other": c.createOther,
				"reconcile-other": c.reconcileOther, "create-revision": c.createRevision, "delete-revisions": c.deleteRevisions, "revision-labels": c.revisionLabels,
			},
		}
	})
}

func (c *cluster) option(name, value string) {
	switch name {
	case "budget":
		left, err := strconv.Atoi(value)
		c.Must(err)
		c.options.Budget = &budget{left: left}
	case "jobs":
		c.options.Jobs, c.options.Features.PreDownload = &memoryJobs{}, true
	case "placement":
		c.options.Placement = &placement{unknown: value}
	default:
		c.Kubelet.Resize = func(*corev1.Pod) string { return "" }
		reflect.ValueOf(&c.options.Features).Elem().FieldByName(name).SetBool(true)
	}
}

// budget allows so many updates.
type budget struct {
	left  int
	asked []string
}

func (b *budget) AllowUpdate(_ context.Context, pod *corev1.Pod) (bool, error) {
	b.asked = append(b.asked, pod.Name)
	b.left--
	return b.left >= 0, nil
}

// placement sends pods to a node, and does not know to which if their names are unknown.
type placement struct {
	lock    sync.Mutex
	unknown string
}

func (p *placement) PlacePod(_ context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if pod.Name == p.unknown {
		return nil, errors.New("nothing tells")
	}
	pod = pod.DeepCopy()
	pod.Spec.NodeSelector = map[string]string{"kubernetes.io/hostname": "node-" + pod.Name}
	return pod, nil
}

func (c *cluster) places(...string) (out string) {
	for _, pod := range c.Pods() {
		out += fmt.Sprintln(pod.Name, pod.Spec.NodeSelector["kubernetes.io/hostname"])
	}
	return out
}

// jobs shows the jobs that were created and deleted since this was asked. With a word they fail, or are unreadable.
func (c *cluster) jobs(words ...string) string {
	j := c.options.Jobs.(*memoryJobs)
	switch strings.Join(words, "") {
	case "fail":
		j.fails = errors.New("no such kind")
		return ""
	case "unreadable":
		j.unreadable = errors.New("no cache")
		return ""
	}
	defer func() { j.log = nil }()
	return strings.Join(j.log, "\n") + "\n"
}

// nodes has nodes answer with a reason to resizes of a pod, but not of one that comes in its place.
func (c *cluster) nodes(words ...string) string {
	uid := types.UID("")
	for _, pod := range c.Pods() {
		if pod.Name == words[1] {
			uid = pod.UID
		}
	}
	c.Kubelet.Resize = func(pod *corev1.Pod) string {
		if pod.UID == uid {
			return words[0]
		}
		return ""
	}
	return ""
}

// class says what the storage class of claims is.
func (c *cluster) class(words ...string) string {
	c.options.StorageClass = func(context.Context, string) (*storagev1.StorageClass, error) {
		c.classReads++
		switch c.classIs {
		case "missing": // with an object, as clients answer
			return &storagev1.StorageClass{AllowVolumeExpansion: new(true)}, apierrors.NewNotFound(storagev1.Resource("storageclasses"), "fast")
		case "rigid":
			return &storagev1.StorageClass{AllowVolumeExpansion: new(false)}, nil
		}
		return &storagev1.StorageClass{AllowVolumeExpansion: new(true)}, nil
	}
	if c.classIs == "" {
		c.restart()
	}
	c.classIs = words[0]
	return ""
}

// sizes shows what claims ask for, their limits, and which StatefulSet has had them grow.
func (c *cluster) sizes(...string) (out string) {
	list, err := c.Kube.CoreV1().PersistentVolumeClaims(web.Namespace).List(c.T.Context(), metav1.ListOptions{})
	c.Must(err)
	for _, claim := range list.Items {
		asks := claim.Spec.Resources
		out += fmt.Sprintf("%s asks for %s, limit %s, grown by %q\n", claim.Name, asks.Requests.Storage(), asks.Limits.Storage(), claim.Annotations["apps.kruise.io/owned-by-asts"])
	}
	return out
}

// lendClaim has a claim name one more owner.
func (c *cluster) lendClaim(words ...string) string {
	claims := c.Kube.CoreV1().PersistentVolumeClaims(web.Namespace)
	claim, err := claims.Get(c.T.Context(), words[0], metav1.GetOptions{})
	c.Must(err)
	claim.OwnerReferences = append(claim.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "backup", UID: "b"})
	_, err = claims.Update(c.T.Context(), claim, metav1.UpdateOptions{})
	c.Must(err)
	return ""
}

// labels shows the labels and owners of pods. It leaves out the names of revisions and UIDs.
func (c *cluster) labels(...string) (out string) {
	for _, pod := range c.Pods() {
		delete(pod.Labels, appsv1.ControllerRevisionHashLabelKey)
		out += fmt.Sprint(pod.Name, " ", pod.Labels)
		for _, owner := range pod.OwnerReferences {
			out += fmt.Sprint(" of ", owner.APIVersion, " ", owner.Kind, " ", owner.Name)
		}
		out += "\n"
	}
	return out
}

// createOther creates a StatefulSet of another name, two pods and another image.
func (c *cluster) createOther(words ...string) string {
	set := testSet(2)
	set.Name = words[0]
	set.Spec.Template.Spec.Containers[0].Image = "nginx:2"
	c.Create(set, "")
	return ""
}

func (c *cluster) reconcileOther(words ...string) string {
	for range 8 {
		c.KubeletStep()
		_, err := c.reconciler.Reconcile(c.T.Context(), types.NamespacedName{Namespace: web.Namespace, Name: words[0]})
		c.Must(err)
		c.Sleep("1s")
	}
	return ""
}

// createRevision creates a revision without a controller with the highest number.
func (c *cluster) createRevision(words ...string) string {
	data := map[string]string{"unreadable": `"x"`, "highest": `{"spec":{"template":{}}}`}[words[0]]
	_, err := c.Kube.AppsV1().ControllerRevisions(web.Namespace).Create(c.T.Context(), &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Name: "web-x", Labels: map[string]string{"app": "web"}},
		Data:       runtime.RawExtension{Raw: []byte(data)}, Revision: math.MaxInt64}, metav1.CreateOptions{})
	c.Must(err)
	return ""
}

func (c *cluster) deleteRevisions(...string) string {
	for _, r := range c.revisions() {
		c.Must(c.Kube.AppsV1().ControllerRevisions(web.Namespace).Delete(c.T.Context(), r.Name, metav1.DeleteOptions{}))
	}
	return ""
}

func (c *cluster) revisionLabels(...string) (out string) {
	for _, r := range c.revisions() {
		delete(r.Labels, "controller.kubernetes.io/hash")
		out += fmt.Sprintln(r.Revision, r.Labels)
	}
	return out
}

func (c *cluster) revisions() []appsv1.ControllerRevision {
	list, err := c.Kube.AppsV1().ControllerRevisions(web.Namespace).List(c.T.Context(), metav1.ListOptions{})
	c.Must(err)
	slices.SortFunc(list.Items, func(a, b appsv1.ControllerRevision) int { return int(a.Revision - b.Revision) })
	return list.Items
}

// calm lets two hours pass, and says if the controller panicked, was busy, or has taken pods away.
func (c *cluster) calm(...string) (out string) {
	before := c.reconciles.Count()
	c.ForgetRequests()
	for range 10 {
		c.KubeletStep()
		c.Sleep("2s")
	}
	c.Sleep("2h")
	if n := c.reconciles.Count() - before; n > 200 {
		out += fmt.Sprintln(n, "reconciles")
	}
	for _, request := range c.Sent() {
		if n, _, _ := strings.Cut(request, " "); len(n) > 2 {
			out += fmt.Sprintln(request)
		}
	}
	for _, err := range c.reconciles.Errors() {
		if strings.Contains(err.Error(), "panic") {
			out += fmt.Sprintln(err)
		}
	}
	return out + fmt.Sprintln(len(c.Pods()), "pods")
}

// waits lists why pods are not as they should be.
func (c *cluster) waits() (out []string) {
	c.T.Helper()
	plan, err := c.reconciler.Plan(c.T.Context(), web)
	c.Must(err)
	for _, w := range plan.Waiting {
		out = append(out, fmt.Sprintf("%s: %s: %s", w.Pod.Name, w.Reason.Rule, w.Reason.Message))
	}
	slices.Sort(out)
	return out
}
