// SPDX-License-Identifier: Apache-2.0

package fakecluster_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"

	"github.com/podwright/podwright/internal/testing/fakecluster"
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

// watching watches a resource, or disturbs its watches, and shows what comes.
func (w *world) watching(d *datadriven.TestData, out *strings.Builder) {
	defer func() {
		if refused := recover(); refused != nil {
			fmt.Fprintln(out, refused)
		}
	}()
	var options metav1.ListOptions
	resource := "pods"
	for _, arg := range d.CmdArgs {
		value := strings.Join(arg.Vals, "")
		passes, _ := time.ParseDuration(value)
		switch arg.Key {
		case "of":
			resource = value
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
			w.Lag(resource, passes)
		case "release-next":
			w.ReleaseNext(resource, 1)
		default:
			map[string]func(string){"hold": w.Hold, "release": w.Release, "bookmark": w.Bookmark, "drop": w.Drop, "compact": w.Compact}[arg.Key](resource)
		}
	}
	if d.Cmd == "watch" {
		w.watch.Stop()
		version := must(schema.ParseGroupVersion(strings.NewReplacer("/apis/", "", "/api/", "").Replace(rootOf(resource))))(w.t)
		all := must(metadata.NewForConfig(metadata.ConfigFor(w.Config("test"))))(w.t)
		next, err := all.Resource(version.WithResource(resource)).Namespace("shop").Watch(w.t.Context(), options)
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

// discover shows what a client finds out about what is served.
func (w *world) discover(version string, out *strings.Builder) {
	if version != "" {
		_, err := w.kube.Discovery().ServerResourcesForGroupVersion(version)
		fmt.Fprintln(out, apierrors.ReasonForError(err), err)
		return
	}
	groups, lists, err := w.kube.Discovery().ServerGroupsAndResources()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, group := range groups {
		fmt.Fprintf(out, "group %s: %d versions, preferred is %s\n", group.Name, len(group.Versions), group.PreferredVersion.Version)
	}
	for _, list := range lists {
		for _, r := range list.APIResources {
			fmt.Fprintf(out, "%s %s: %s, namespaced: %t\n", list.GroupVersion, r.Name, r.Kind, r.Namespaced)
		}
	}
}

// admit notes what it is asked about, and marks what is to be stored. It lists pods: a client of the server does not wait for the write
// that is asked about.
func (w *world) admit(ctx context.Context, r fakecluster.Request, before, after *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	line := r.String()
	if before != nil {
		line += " of " + before.GetLabels()["app"]
	}
	if after != nil && after.GetKind() == "Pod" {
		line += " to " + after.GetLabels()["app"]
		after = after.DeepCopy()
		after.SetAnnotations(map[string]string{"seen": "yes"})
	}
	w.asked = append(w.asked, line)
	if _, err := w.kube.CoreV1().Pods("shop").List(ctx, metav1.ListOptions{}); err != nil {
		return nil, err
	}
	if r.Verb == "delete" || after.GetLabels()["app"] == "bad" {
		return nil, apierrors.NewForbidden(corev1.Resource("pods"), r.Name, errors.New("no"))
	}
	return after, nil
}
