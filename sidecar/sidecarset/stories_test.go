// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// TestStories plays the stories in testdata: see fixture.PlayStories. Images with "nopull" cannot be pulled. Options are features by name,
// and those of fixture.Kind.
//
//	inject pods, inject 20 a=b      creates pods that the webhook injects into, or so many; arguments with = are their labels
//	inject-in, kubelet-in, images-in namespace
//	                                the same of a pod web-a in another namespace; has its kubelets act; shows images there
//	mirror                          has a webhook of others rewrite the images of pods that are created
//	down pod container, forget      has a container fail; deletes all revisions
//	plan, step                      shows the plan; and reconciles once
//	hot pod container, outcome      shows what a pod records of hot containers; what has come of pods and SidecarSet
//	create-set name a=b, delete-set, create-namespace
//	                                are about others; a=b is a label of their namespaces
//	matched names, metrics          shows how many pods SidecarSets match; what was measured last
//	namespace labels a=b            changes labels of the namespace
//	take-revision by                gives the name of the last revision to another one: of other-data or unreadable, of another SidecarSet, or of none
//	injector [counting], serve      makes an injector with caches, perhaps with an expression of its own; runs them
//	knows names, expression         shows what its caches know, by name; which pods webhooks are asked about, and how often that has changed
//	admit app                       shows what it injects
//	white-list name, copy-revisions namespace
//	                                creates the ConfigMap that it reads; copies revisions to another namespace
func TestStories(t *testing.T) {
	fixture.PlayStories(t, "testdata/stories", setResource, func(f *fixture.Cluster) *fixture.Story {
		c := newCluster(f)
		c.Kubelet.Unpullable = func(image string) bool { return strings.Contains(image, "nopull") }
		act := func(act func(word string)) func(...string) string {
			return func(words ...string) string {
				for _, word := range words {
					act(word)
				}
				synctest.Wait()
				return ""
			}
		}
		story := c.Story(func(int32) any { return newSet(c.T, "web") })
		story.Stable, story.Option = true, c.option
		story.Start = func() (*fixture.Reconciles, func()) { // with informers of its own
			return c.Run(func(o *Options) { o.SidecarSets, o.Pods, o.Revisions, o.Namespaces = nil, nil, nil, nil })
		}
		maps.Copy(story.Further, map[string]func(...string) string{
			"inject": c.inject, "mirror": c.mirror, "down": c.down, "forget": c.forget,
			"inject-in": act(func(namespace string) {
				pod := injectedPod(c.T, c.get("web"), namespace, "web-a", injection.Features{})
				_, err := c.Kube.CoreV1().Pods(namespace).Create(c.T.Context(), pod, metav1.CreateOptions{})
				c.Must(err)
			}),
			"kubelet-in": act(func(namespace string) { c.Must(c.Kubelet.SyncAll(c.T.Context(), namespace)) }),
			"images-in":  c.imagesIn,
			"metrics":    func(...string) string { return fmt.Sprintln(c.metrics.last.Load()) },
			"injector":   c.newInjector, "knows": c.knows, "expression": c.expression, "admit": c.admit,
			"serve":          func(...string) string { c.T.Cleanup(c.Start(c.injector.Run)); return "" },
			"copy-revisions": act(c.copyRevisions),
			"white-list": act(func(name string) {
				list := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
				_, err := c.Kube.CoreV1().ConfigMaps(DefaultRevisionNamespace).Create(c.T.Context(), list, metav1.CreateOptions{})
				c.Must(err)
			}),
			"plan": func(...string) string { return c.Planned().String() + "\n" },
			"step": c.step,
			"hot": func(words ...string) string {
				state, _, _ := strings.Cut(hotState(c.T, c.pod(words[0]), words[1], nil), ": ")
				return state + "\n"
			},
			"outcome": func(...string) string { return outcome(c.Cluster, "web") + "\n" },
			"create-set": func(words ...string) string {
				var spec []string
				for _, label := range words[1:] {
					spec = append(spec, "namespaceSelector: {matchLabels: {"+strings.Replace(label, "=", ": ", 1)+"}}")
				}
				c.Create(newSet(c.T, words[0], spec...), "")
				return ""
			},
			"heartbeats":    func(...string) string { c.Heartbeats(); return "" },
			"namespace":     c.patchNamespace,
			"take-revision": act(c.takeRevision),
			"matched": func(names ...string) (out string) {
				for _, name := range names {
					out += fmt.Sprintf("%s: %d\n", name, c.get(name).Status.MatchedPods)
				}
				return out
			},
			"delete-set":       act(c.DeleteNamed),
			"create-namespace": act(func(name string) { createNamespaces(f, name) }),
		})
		return story
	}, namespaceResource, fakecluster.BuiltIn(corev1.SchemeGroupVersion.WithKind("ConfigMap"), "configmaps", func() any { return &corev1.ConfigMap{} }))
}

func (c *cluster) option(name, value string) {
	if injects := reflect.ValueOf(&c.Options.Injection).Elem().FieldByName(name); injects.IsValid() {
		injects.SetBool(true)
	} else {
		c.Option(name, value)
	}
}

func (c *cluster) inject(words ...string) string {
	labels := map[string]string{}
	for _, word := range words {
		if key, value, is := strings.Cut(word, "="); is {
			labels[key] = value
		}
	}
	var names []string
	for _, word := range words {
		n, err := strconv.Atoi(word)
		for i := range n {
			names = append(names, fmt.Sprintf("web-%02d", i))
		}
		if err != nil && !strings.Contains(word, "=") {
			names = append(names, word)
		}
	}
	for _, name := range names {
		pod := injectedPod(c.T, c.get("web"), fixture.Web.Namespace, name, c.Options.Injection)
		maps.Copy(pod.Labels, labels)
		c.CreatePod(pod)
	}
	return ""
}

func (c *cluster) mirror(...string) string {
	c.Mutate(func(request fakecluster.Request, object *unstructured.Unstructured) {
		if request.Resource != "pods" || request.Verb != "create" || request.Subresource != "" {
			return
		}
		for _, list := range []string{"initContainers", "containers"} {
			containers, _, err := unstructured.NestedSlice(object.Object, "spec", list)
			c.Must(err)
			for _, each := range containers {
				fields := each.(map[string]any)
				fields["image"] = fmt.Sprint("mirror.example.com/", fields["image"])
			}
			if len(containers) > 0 {
				c.Must(unstructured.SetNestedSlice(object.Object, containers, "spec", list))
			}
		}
	})
	return ""
}

func (c *cluster) forget(...string) string {
	revisions := c.Kube.AppsV1().ControllerRevisions(DefaultRevisionNamespace)
	list, err := revisions.List(c.T.Context(), metav1.ListOptions{})
	c.Must(err)
	for i := range list.Items {
		c.Must(revisions.Delete(c.T.Context(), list.Items[i].Name, metav1.DeleteOptions{}))
	}
	synctest.Wait()
	return ""
}

// copyRevisions copies all revisions into another namespace, under other names.
func (c *cluster) copyRevisions(namespace string) {
	list, err := c.Kube.AppsV1().ControllerRevisions(DefaultRevisionNamespace).List(c.T.Context(), metav1.ListOptions{})
	c.Must(err)
	for i := range list.Items {
		r := &list.Items[i]
		r.ObjectMeta = metav1.ObjectMeta{Name: "copy-" + r.Name, Labels: r.Labels}
		_, err := c.Kube.AppsV1().ControllerRevisions(namespace).Create(c.T.Context(), r, metav1.CreateOptions{})
		c.Must(err)
	}
}

func (c *cluster) pod(name string) *corev1.Pod {
	c.T.Helper()
	pod, err := c.Kube.CoreV1().Pods(fixture.Web.Namespace).Get(c.T.Context(), name, metav1.GetOptions{})
	c.Must(err)
	return pod
}

func (c *cluster) down(words ...string) string {
	pod := c.pod(words[0])
	podstate.LastingStatus(pod, words[1]).Ready = false
	c.Kubelet.Recompute(pod)
	_, err := c.Kube.CoreV1().Pods(pod.Namespace).UpdateStatus(c.T.Context(), pod, metav1.UpdateOptions{})
	c.Must(err)
	synctest.Wait()
	return ""
}

// step shows the plan, reconciles once, and shows what fails.
func (c *cluster) step(...string) string {
	plan := c.Planned()
	out := plan.String() + "\n"
	if _, _, err := c.ReconcileOnce(); err != nil {
		out += "error: " + err.Error() + "\n"
	}
	return out
}

func (c *cluster) patchNamespace(words ...string) string {
	key, value, _ := strings.Cut(words[1], "=")
	patch := fmt.Appendf(nil, `{"metadata":{%q:{%q:%q}}}`, words[0], key, value)
	_, err := c.Kube.CoreV1().Namespaces().Patch(c.T.Context(), "default", types.MergePatchType, patch, metav1.PatchOptions{})
	c.Must(err)
	return ""
}

func (c *cluster) takeRevision(by string) {
	revisions := c.Kube.AppsV1().ControllerRevisions(DefaultRevisionNamespace)
	taken, err := revisions.Get(c.T.Context(), c.get("web").Status.LatestRevision, metav1.GetOptions{})
	c.Must(err)
	c.Must(revisions.Delete(c.T.Context(), taken.Name, metav1.DeleteOptions{}))
	taken.UID, taken.ResourceVersion = "", ""
	switch by {
	case "other-data":
		taken.Data.Raw = []byte(`{"spec":{"containers":[]}}`)
	case "unreadable":
		taken.Data.Raw = []byte(`{"spec":null}`)
	case "another":
		taken.OwnerReferences[0].UID = "other"
	case "none":
		taken.OwnerReferences = nil
	}
	_, err = revisions.Create(c.T.Context(), taken, metav1.CreateOptions{})
	c.Must(err)
}

// hotState shows the images, the working container and the versions of a hot container of
// a pod. R1 and R2 stand for the resourceVersions of the SidecarSet.
func hotState(t testing.TB, pod *corev1.Pod, name string, versions map[string]string) string {
	t.Helper()
	is := func(prefix, container string) string {
		value := pod.Annotations[prefix+container]
		if named, known := versions[value]; known {
			return named
		}
		return value
	}
	var working map[string]string
	if err := json.Unmarshal([]byte(pod.Annotations[v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation]), &working); err != nil {
		t.Error(err)
	}
	first, second := injection.HotContainers(name)
	const version, alt = v1alpha1.SidecarSetVersionAnnotationPrefix, v1alpha1.SidecarSetVersionAltAnnotationPrefix
	image := func(container string) string { return podstate.Container(pod, container).Image }
	return fmt.Sprintf("%s %s works %s: %s/%s %s/%s", image(first), image(second), working[name],
		is(version, first), is(alt, first), is(version, second), is(alt, second))
}
