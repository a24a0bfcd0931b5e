// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestStories plays the stories in testdata: see fixture.PlayStories and fixture.Kind.Story. "nodes" has nodes answer with a reason to
// resizes of a pod that is there. "class" says what the storage class
// is: grows, rigid or missing. "calm" lets two hours pass, and says if the controller was busy.
func TestStories(t *testing.T) {
	fixture.PlayStories(t, "testdata/stories", statefulSets, func(f *fixture.Cluster) *fixture.Story {
		c := newCluster(f)
		s := c.Story(func(replicas int32) any { return testSet(replicas) })
		s.Stable, s.Option = true, c.option
		maps.Copy(s.Further, map[string]func(...string) string{
			"nodes": c.nodes, "calm": c.calm, "class": c.class,
			"labels": c.labels, "sizes": c.sizes, "lend-claim": c.lendClaim,
			"create-revision": c.createRevision, "delete-revisions": c.deleteRevisions, "revision-labels": c.revisionLabels,
		})
		return s
	}, storageClasses)
}

func (c *cluster) option(name, value string) {
	c.Kubelet.Resize = func(*corev1.Pod) string { return "" }
	c.Option(name, value)
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
	classes := c.Kube.StorageV1().StorageClasses()
	if err := classes.Delete(c.T.Context(), "fast", metav1.DeleteOptions{}); !apierrors.IsNotFound(err) {
		c.Must(err)
	}
	if words[0] != "missing" {
		_, err := classes.Create(c.T.Context(), &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "fast"},
			AllowVolumeExpansion: new(words[0] == "grows")}, metav1.CreateOptions{})
		c.Must(err)
	}
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
	before := c.Reconciles.Count()
	c.ForgetRequests()
	for range 10 {
		c.KubeletStep()
		c.Sleep("2s")
	}
	c.Sleep("2h")
	if n := c.Reconciles.Count() - before; n > 200 {
		out += fmt.Sprintln(n, "reconciles")
	}
	for _, request := range c.Sent() {
		if n, _, _ := strings.Cut(request, " "); len(n) > 2 {
			out += fmt.Sprintln(request)
		}
	}
	for _, err := range c.Reconciles.Errors() {
		if strings.Contains(err.Error(), "panic") {
			out += fmt.Sprintln(err)
		}
	}
	return out + fmt.Sprintln(len(c.Pods()), "pods")
}
