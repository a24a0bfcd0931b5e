// SPDX-License-Identifier: Apache-2.0

package fakecluster_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// TestScripts sends requests to a server, each file to one of its own. It is noon of the 2nd of January 2026, in the namespace shop.
// Shown are the status code and what is other than what was sent, or than it was before. To accept a change of behaviour, run the
// test with -rewrite and read the difference.
//
//	create PATH, update PATH, delete PATH, patch PATH [merge|strategic|json], get PATH [metadata]
//	                      sends the YAML that follows. A path is that of an object, or of a resource and perhaps a subresource,
//	                      such as pods/web/status. With dry-run, all but get change nothing. With protobuf, what is sent and answered is so.
//	kubelet [direct] [given]
//	                      has a kubelet sync all pods twice: what it does the second time is an error. It asks the server directly. At
//	                      first, it is given the pods
//	kubelet-is key=value… broken and unpullable images, and the answer to a resize
//	collect               collects garbage, and tells how many objects
//	protect-claims, end-namespace, sweep RESOURCE, finalize RESOURCE NAME
//	fail-before, fail-after VERB RESOURCE
//	                      has requests fail before, or after they were done; nothing for none any more
//	requests              shows and forgets how many requests there were
//	changes VERSION       shows what became of pods after a version
//	watch [of=resource] [version=n] [label=key:value] [name=x] [initial] [bookmarks]
//	                      watches the metadata of pods, or of another resource, and shows what comes
//	disturb [of=resource] hold|release|release-next|bookmark|drop|compact|lag=1s
//	                      disturbs the watches of pods, or of another resource, and shows what comes
//	events [after=1s]     shows what comes in a time
//	served [VERSION]      shows what is served, or asks for the resources of a version
//	admit                 has writes decided about, and shows with each what was asked
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				w.t = t
				var out strings.Builder
				w.run(d, &out)
				return out.String()
			})
			w.watch.Stop()
		})
	})
}

func (w *world) run(d *datadriven.TestData, out *strings.Builder) {
	arg := func(i int) string {
		if i < len(d.CmdArgs) {
			return d.CmdArgs[i].Key
		}
		return ""
	}
	switch d.Cmd {
	case "create", "update", "delete", "patch", "get":
		w.send(d, out)
	case "kubelet":
		w.kubelet(d.HasArg("direct"), d.HasArg("given"), out)
	case "kubelet-is":
		w.images, w.resize = map[string]string{}, ""
		for _, a := range d.CmdArgs {
			if w.images[a.Vals[0]] = a.Key; a.Key == "resize" {
				w.resize = a.Vals[0]
			}
		}
	case "collect":
		fmt.Fprintln(out, w.CollectGarbage())
		w.showAll(out)
	case "protect-claims":
		w.ProtectClaims()
	case "end-namespace":
		w.EndNamespace("shop")
	case "sweep":
		fmt.Fprintln(out, w.Sweep("shop", arg(0)))
		w.showAll(out)
	case "finalize":
		w.Finalize(arg(0), "shop", arg(1), nil)
		w.showAll(out)
	case "fail-before", "fail-after":
		set := map[string]func(func(fakecluster.Request) error){"fail-before": w.FailBefore, "fail-after": w.FailAfter}[d.Cmd]
		which := arg(0) + " " + arg(1)
		set(func(r fakecluster.Request) error {
			if r.String() == which {
				return apierrors.NewForbidden(corev1.Resource("pods"), r.Name, fmt.Errorf("injected"))
			}
			return nil
		})
	case "requests":
		counts := w.Count("test")
		for _, request := range slices.Sorted(maps.Keys(counts)) {
			fmt.Fprintln(out, request, counts[request])
		}
		if w.ForgetRequests(); len(w.Requests("")) > 0 {
			d.Fatalf(w.t, "requests are not forgotten")
		}
	case "changes":
		var after int64
		fmt.Sscan(arg(0), &after)
		for _, c := range w.Changes("pods", after) {
			fmt.Fprintf(out, "%d %s %v gone %t\n", c.Version, c.Object.GetName(), c.Object.GetLabels(), c.Gone)
		}
	case "watch", "disturb", "events":
		w.watching(d, out)
	case "admit":
		w.AdmitBy(w.admit)
	case "served":
		w.discover(arg(0), out)
	default:
		d.Fatalf(w.t, "unknown command %s", d.Cmd)
	}
}

// send sends a request, and shows what came of it.
func (w *world) send(d *datadriven.TestData, out *strings.Builder) {
	path := d.CmdArgs[0].Key
	resource, object, _ := strings.Cut(path, "/")
	name, subresource, _ := strings.Cut(object, "/")
	namespace := "shop"
	if d.HasArg("namespace") {
		d.ScanArgs(w.t, "namespace", &namespace)
	}
	verb := map[string]string{"create": "POST", "update": "PUT", "delete": "DELETE", "patch": "PATCH", "get": "GET"}[d.Cmd]
	request := w.kube.CoreV1().RESTClient().Verb(verb).AbsPath(rootOf(resource) + "/namespaces/" + namespace + "/" + path)
	var body map[string]any
	if d.Input != "" {
		data := must(yaml.YAMLToJSON([]byte(d.Input)))(w.t)
		_ = json.Unmarshal(data, &body) // a JSON patch is none
		request.SetHeader("Content-Type", "application/json").Body(data)
		if d.HasArg("protobuf") && d.Cmd != "patch" {
			sent := must(runtime.Decode(scheme.Codecs.UniversalDeserializer(), data))(w.t)
			request.SetHeader("Content-Type", runtime.ContentTypeProtobuf).Body(must(runtime.Encode(protobufs, sent))(w.t))
		}
	}
	if d.HasArg("protobuf") {
		request.SetHeader("Accept", runtime.ContentTypeProtobuf)
	}
	for of, kind := range map[string]types.PatchType{"merge": types.MergePatchType, "strategic": types.StrategicMergePatchType, "json": types.JSONPatchType} {
		if d.HasArg(of) {
			request.SetHeader("Content-Type", string(kind))
		}
	}
	if d.HasArg("dry-run") {
		request.Param("dryRun", metav1.DryRunAll)
	}
	if d.HasArg("metadata") {
		request.SetHeader("Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json")
	}
	var code int
	answer := request.Do(w.t.Context()).StatusCode(&code)
	for _, asked := range w.asked {
		fmt.Fprintln(out, "asked about", asked)
	}
	w.asked = nil
	raw, _ := answer.Raw()
	if err := answer.Error(); err != nil {
		fmt.Fprintln(out, code, apierrors.ReasonForError(err), err)
		return
	}
	fmt.Fprintln(out, code)
	if d.HasArg("protobuf") {
		raw = must(json.Marshal(must(runtime.Decode(protobufs, raw))(w.t)))(w.t)
	}
	var after map[string]any
	if err := json.Unmarshal(raw, &after); err != nil {
		d.Fatalf(w.t, "%v", err)
	}
	key := resource + "/" + name
	if d.Cmd == "create" && name == "" {
		metadata, _ := after["metadata"].(map[string]any)
		key = fmt.Sprint(resource, "/", metadata["name"])
	}
	before := w.shown[key]
	switch {
	case subresource == "scale" || after["kind"] == "Status" || d.HasArg("metadata"):
		before = nil
	case d.Cmd == "create":
		before = body
	}
	if show("", before, after, out); after["kind"] != "Scale" && after["kind"] != "Status" && !d.HasArg("metadata") && !d.HasArg("dry-run") && namespace == "shop" {
		w.shown[key] = after
	}
}

// kubelet has a kubelet sync all pods, and shows what it changed.
func (w *world) kubelet(direct, given bool, out *strings.Builder) {
	k := &fakecluster.Kubelet{Client: w.kube, Clock: w.clock}
	k.Broken = func(image string) bool { return w.images[image] == "broken" }
	k.Unpullable = func(image string) bool { return w.images[image] == "unpullable" }
	if w.resize != "" {
		k.Resize = func(*corev1.Pod) string { return strings.TrimPrefix(w.resize, "now") }
	}
	if direct {
		k.Server = w.Server
	}
	if given {
		w.syncPods(k, out)
	} else if err := errors.Join(k.Sync(w.t.Context(), "shop", "web"), k.SyncAll(w.t.Context(), "shop")); err != nil {
		w.t.Error(err)
	}
	w.showAll(out)
	version := w.NewestVersion()
	if err := errors.Join(k.SyncAll(w.t.Context(), "shop"), k.Sync(w.t.Context(), "shop", "no-such-pod")); err != nil || w.NewestVersion() != version {
		fmt.Fprintln(out, "and again, though nothing is to be done:", err)
	}
}

// syncPods has a kubelet sync pods that it is given, which do not change.
func (w *world) syncPods(k *fakecluster.Kubelet, out *strings.Builder) {
	pods := must(w.reader.CoreV1().Pods("shop").List(w.t.Context(), metav1.ListOptions{}))(w.t)
	for i := range pods.Items {
		passed := pods.Items[i].DeepCopy()
		if err := k.SyncPod(w.t.Context(), passed); err != nil {
			w.t.Error(err)
		}
		if !reflect.DeepEqual(passed, &pods.Items[i]) {
			fmt.Fprintln(out, "the pod that was passed has changed")
		}
	}
}

// showAll shows what has become of all objects that were shown before.
func (w *world) showAll(out *strings.Builder) {
	for _, key := range slices.Sorted(maps.Keys(w.shown)) {
		resource, _, _ := strings.Cut(key, "/")
		var after map[string]any
		raw, err := w.reader.CoreV1().RESTClient().Get().AbsPath(rootOf(resource) + "/namespaces/shop/" + key).DoRaw(w.t.Context())
		if apierrors.IsNotFound(err) {
			fmt.Fprintln(out, key, "is gone")
			delete(w.shown, key)
			continue
		}
		if err = json.Unmarshal(raw, &after); err != nil {
			w.t.Fatal(err)
		}
		show(key+" ", w.shown[key], after, out)
		w.shown[key] = after
	}
}

// show shows how a value differs from another one.
func show(at string, before, after any, out *strings.Builder) {
	was, isMap := before.(map[string]any)
	is, staysMap := after.(map[string]any)
	old, isList := before.([]any)
	items, staysList := after.([]any)
	switch {
	case reflect.DeepEqual(before, after):
	case isMap && staysMap:
		keys := maps.Clone(is)
		if keys == nil {
			keys = map[string]any{}
		}
		maps.Copy(keys, was)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			dot := "."
			if at == "" || strings.HasSuffix(at, " ") {
				dot = ""
			}
			show(at+dot+key, was[key], is[key], out)
		}
	case isList && staysList && len(old) == len(items):
		for i := range items {
			show(fmt.Sprintf("%s[%d]", at, i), old[i], items[i], out)
		}
	case after == nil:
		fmt.Fprintln(out, at, "is gone")
	default:
		text, _ := json.Marshal(after)
		fmt.Fprintln(out, at, string(text))
	}
}
