// SPDX-License-Identifier: Apache-2.0

package fakecluster_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// collect lists the events that a watch has got by now.
func collect(w watch.Interface) (events []string) {
	for {
		synctest.Wait()
		select {
		case e, open := <-w.ResultChan():
			if !open {
				return append(events, "end")
			}
			object, err := meta.Accessor(e.Object)
			if err != nil {
				events = append(events, string(e.Type))
				continue
			}
			events = append(events, strings.TrimSpace(fmt.Sprint(e.Type, " ", object.GetResourceVersion(), " ", object.GetName())))
		default:
			return events
		}
	}
}

// watching watches pods, or disturbs their watches, and shows what comes.
func (w *world) watching(d *datadriven.TestData, out *strings.Builder) {
	var options metav1.ListOptions
	for _, arg := range d.CmdArgs {
		value := strings.Join(arg.Vals, "")
		passes, _ := time.ParseDuration(value)
		switch arg.Key {
		case "version":
			options.ResourceVersion = value
		case "label":
			options.LabelSelector = strings.Replace(value, ":", "=", 1)
		case "name":
			options.FieldSelector = "metadata.name=" + value
		case "initial":
			options.SendInitialEvents, options.ResourceVersionMatch = new(true), metav1.ResourceVersionMatchNotOlderThan
		case "bookmarks":
			options.AllowWatchBookmarks = true
		case "after":
			time.Sleep(passes)
		case "lag":
			w.Lag("pods", passes)
		case "release-next":
			w.ReleaseNext("pods", 1)
		default:
			map[string]func(string){"hold": w.Hold, "release": w.Release, "bookmark": w.Bookmark, "drop": w.Drop, "compact": w.Compact}[arg.Key]("pods")
		}
	}
	if d.Cmd == "watch" {
		w.watch.Stop()
		next, err := w.kube.CoreV1().Pods("shop").Watch(w.t.Context(), options)
		if err != nil {
			fmt.Fprintln(out, err)
			return
		}
		w.watch = next
	}
	for _, event := range collect(w.watch) {
		fmt.Fprintln(out, event)
	}
}

// history makes five versions of the pods a and b, as 2 to 6.
func (f *fixture) history() {
	f.pod(func(p *corev1.Pod) { p.Name = "a" })
	f.pod(func(p *corev1.Pod) { p.Name = "b" })
	for _, patch := range []string{`{"metadata":{"labels":{"app":"x"}}}`, `{"metadata":{"labels":{"app":"web"}}}`} {
		must(f.kube.CoreV1().Pods("shop").Patch(f.t.Context(), "a", types.MergePatchType, []byte(patch), metav1.PatchOptions{}))(f.t)
	}
	if err := f.kube.CoreV1().Pods("shop").Delete(f.t.Context(), "b", metav1.DeleteOptions{}); err != nil {
		f.t.Fatal(err)
	}
}

// TestInformer shows that the informers of client-go work on the server, and
// what the means to disturb them do.
func TestInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.history()
		informer := caches.NewInformers(f.kube, "").Pods()
		var guard fakecluster.Guard
		if err := informer.SetTransform(guard.Transform(nil)); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() { informer.RunWithContext(t.Context()); close(done) }()
		expect := func(what, version string, want ...string) {
			t.Helper()
			synctest.Wait()
			have := informer.GetStore().ListKeys()
			slices.Sort(have)
			if diff := cmp.Diff(want, have); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
			if got := informer.GetStore().LastStoreSyncResourceVersion(); got != version {
				t.Errorf("%s: the store is at %s, want %s", what, got, version)
			}
		}
		if !cache.WaitForCacheSync(t.Context().Done(), informer.HasSynced) {
			t.Fatal("not synced")
		}
		expect("at the beginning", "6", "shop/a")
		f.Hold("pods")
		f.pod()
		expect("while held", "6", "shop/a")
		f.Release("pods")
		expect("after the release", "7", "shop/a", "shop/web")
		f.remove()
		expect("after a deletion", "8", "shop/a")

		f.Hold("pods")
		f.pod(func(p *corev1.Pod) { p.Name = "c" })
		f.Compact("pods")
		f.Drop("pods")
		f.Release("pods")
		time.Sleep(time.Minute) // the informer backs off
		expect("after a new list", "9", "shop/a", "shop/c")
		if f.Count("test")["watch pods"] < 3 {
			t.Errorf("requests %v: want new watches", f.Count("test"))
		}
		if err := guard.Check(); err != nil {
			t.Error(err)
		}
		informer.GetStore().List()[0].(*corev1.Pod).Labels["changed"] = "true"
		if guard.Check() == nil {
			t.Error("a change in the cache is not found")
		}
	})
}

// TestResourcesOfOneName shows that what disturbs a resource leaves that of another group alone, and is told which is meant.
func TestResourcesOfOneName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakecluster.New(nil, fakecluster.CustomResource(v1beta1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets"),
			fakecluster.BuiltIn(appsv1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets", func() any { return &appsv1.StatefulSet{} }))
		kube := must(kubernetes.NewForConfig(s.Config("test")))(t)
		w := must(kube.AppsV1().StatefulSets("shop").Watch(t.Context(), metav1.ListOptions{}))(t)
		defer w.Stop()
		s.Hold("statefulsets.apps")
		s.Release("statefulsets.apps.kruise.io")
		must(kube.AppsV1().StatefulSets("shop").Create(t.Context(), &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, metav1.CreateOptions{}))(t)
		if events := collect(w); events != nil {
			t.Errorf("held, and the other resource released: %v", events)
		}
		s.Release("statefulsets.apps")
		if diff := cmp.Diff([]string{"ADDED 2 web"}, collect(w)); diff != "" {
			t.Errorf("released (-want +got):\n%s", diff)
		}
		defer func() {
			if recover() == nil {
				t.Error("a name of two resources is not refused")
			}
		}()
		s.Hold("statefulsets")
	})
}
