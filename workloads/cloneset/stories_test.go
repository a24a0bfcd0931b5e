// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestStories plays the stories in testdata: see fixture.PlayStories and fixture.Kind.Story.
// "nodes" says what nodes answer to resizes: the reason, of all pods or of one; without a reason they do them. "stores" has a policy store
// another cpu or image than the one asked for, or than any. It does so in every write of a pod that is there. Alone, the command ends that.
// So does "relabels" with labels of new pods. "send-later claim" and "served-late" are about a deletion of another manager.
// The option "nodes" has pods on the nodes n1, n2 and so on, and the controller watch nodes.
func TestStories(t *testing.T) {
	fixture.PlayStories(t, "testdata/stories", cloneSets, func(f *fixture.Cluster) *fixture.Story {
		c := newCluster(f)
		s := c.Story(func(replicas int32) any { return testSet(replicas) })
		s.Waiting = c.waits
		s.Option = func(name, value string) {
			if name != "nodes" {
				c.Option(name, value)
				return
			}
			pods := 0
			c.Kubelet.Schedule = func(*corev1.Pod) string { pods++; return fmt.Sprint("n", pods) }
			c.Options.NoNodes, s.Node = false, func(name string) *corev1.Node { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}} }
		}
		s.Further["nodes"] = func(words ...string) string { c.Kubelet.Resize = nodesSay(words...); return "" }
		s.Further["stores"] = c.stores
		s.Further["relabels"] = c.relabels
		s.Further["send-later"] = c.sendLater
		s.Further["served-late"] = c.servedLate
		return s
	})
}

// nodesSay has nodes give a reason for not doing resizes, of all pods or of one.
func nodesSay(words ...string) func(*corev1.Pod) string {
	return func(pod *corev1.Pod) string {
		if len(words) == 0 || len(words) > 1 && pod.Name != words[1] {
			return ""
		}
		return words[0]
	}
}

// stores has a policy change what of containers: what, the value asked for or *, and the one that is stored.
func (c *cluster) stores(words ...string) string {
	if len(words) == 0 {
		c.Mutate(nil)
		return ""
	}
	fields := map[string][]string{"cpu": {"resources", "requests", "cpu"}, "image": {"image"}}[words[0]]
	c.Mutate(func(r fakecluster.Request, object *unstructured.Unstructured) {
		if r.Resource != "pods" || r.Verb == "create" || !slices.Contains([]string{"", "resize"}, r.Subresource) {
			return
		}
		containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "containers")
		for _, each := range containers {
			container := each.(map[string]any)
			if asked, is, _ := unstructured.NestedString(container, fields...); is && (words[1] == "*" || asked == words[1]) {
				_ = unstructured.SetNestedField(container, words[2], fields...)
			}
		}
		_ = unstructured.SetNestedSlice(object.Object, containers, "spec", "containers")
	})
	return ""
}

// relabels has something change a label of new pods, or remove it: admission, or later another writer.
func (c *cluster) relabels(words ...string) string {
	c.Mutate(nil)
	c.FailAfter(nil)
	c.Kubelet.Schedule = nil
	if len(words) == 0 {
		return ""
	}
	key, value, _ := strings.Cut(words[len(words)-1], "=")
	if words[0] == "later" {
		c.Kubelet.Schedule = func(*corev1.Pod) string { return "" }
		c.FailAfter(func(r fakecluster.Request) error {
			if r.String() == "create pods" {
				c.PatchPod(fixture.NameIn(r), fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, key, value))
			}
			return nil
		})
		return ""
	}
	c.Mutate(func(r fakecluster.Request, object *unstructured.Unstructured) {
		if r.String() == "create pods" {
			labels := object.GetLabels()
			if delete(labels, key); value != "" {
				labels[key] = value
			}
			object.SetLabels(labels)
		}
	})
	return ""
}

// sendLater has a manager send the deletion of the claim that it sees now. It is served when servedLate says so.
func (c *cluster) sendLater(words ...string) string {
	claim, err := c.Kube.CoreV1().PersistentVolumeClaims(web.Namespace).Get(c.T.Context(), words[0], metav1.GetOptions{})
	c.Must(err)
	c.deleted = claim
	return ""
}

func (c *cluster) servedLate(...string) string {
	err := c.Kube.CoreV1().PersistentVolumeClaims(web.Namespace).Delete(c.T.Context(), c.deleted.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &c.deleted.UID, ResourceVersion: &c.deleted.ResourceVersion}})
	return fmt.Sprintln("refused:", apierrors.IsConflict(err))
}

// waits lists why pods are not as they should be.
func (c *cluster) waits() (out []string) {
	c.T.Helper()
	for _, w := range c.Planned().Waiting {
		out = append(out, string(w.Reason.Rule)+": "+w.Reason.Message)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
