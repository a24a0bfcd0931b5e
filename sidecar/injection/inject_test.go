// SPDX-License-Identifier: Apache-2.0

package injection_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// setOf returns the SidecarSet of a name that selects app=web; the spec is YAML.
func setOf(t testing.TB, name, spec string) *v1alpha1.SidecarSet {
	t.Helper()
	set := patches.Object[v1alpha1.SidecarSet](t, "spec: "+spec)
	set.Name = name
	if set.Spec.Selector == nil {
		set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	}
	return set
}

func namespace() *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"team": "a"}}}
}

// inject injects, and once more into what has come of it, which changes nothing. (SCI-16)
func inject(t testing.TB, in injection.Input) (*injection.Result, error) {
	t.Helper()
	in.Now = noon
	before := in.Pod.DeepCopy()
	result, err := injection.Inject(in)
	if err != nil {
		return nil, err
	}
	if diff := cmp.Diff(before, in.Pod); diff != "" {
		t.Errorf("the given pod is changed:\n%s", diff)
	}
	in.Pod, in.Now = result.Pod, noon.Add(time.Minute)
	lots := map[string]float64{}
	for name, lot := range in.Lots {
		lots[name] = 1 - lot
	}
	in.Lots = lots
	again, err := injection.Inject(in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(result.Pod, again.Pod); diff != "" {
		t.Errorf("a second injection changes the pod:\n%s", diff)
	}
	return result, nil
}

// TestInject shows what is injected. Its files have a pod of the label app=web and the namespace shop, and SidecarSets, which select it if they
// have no selector. Behind the command stand features. So does "namespace" if that of the pod is known, which is of team a, and "unnamed" if the
// pod does not name it. Other commands show defaults, hashes or revisions of specs, a line each. To accept a change of behaviour, run the test
// with -rewrite and read the difference.
func TestInject(t *testing.T) {
	datadriven.Walk(t, "testdata/inject", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			features := injection.Features{}
			for _, arg := range d.CmdArgs {
				if feature := reflect.ValueOf(&features).Elem().FieldByName(arg.Key); feature.IsValid() {
					feature.SetBool(true)
				}
			}
			if d.Cmd != "inject" {
				return patches.EachLine(d.Input, func(spec string) string { return shownOf(t, d.Cmd, features, spec) })
			}
			in := patches.Object[injection.Input](t, d.Input)
			if in.Pod.Namespace = "shop"; d.HasArg("unnamed") {
				in.Pod.Namespace = ""
			}
			metav1.SetMetaDataLabel(&in.Pod.ObjectMeta, "app", "web")
			for _, set := range in.SidecarSets {
				if set != nil && set.Spec.Selector == nil {
					set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
				}
			}
			if in.Features = features; d.HasArg("namespace") {
				in.Namespace = namespace()
			}
			result, err := inject(t, *in)
			if err != nil {
				return "error: " + err.Error() + "\n"
			}
			return strings.Join(describe(t, in.Pod, result), "\n") + "\n"
		})
	})
}

// shownOf shows the defaults, the hashes or the revision of a SidecarSet. A second call sets no other defaults, and hashes set none. (SCI-15, SCI-17)
func shownOf(t *testing.T, what string, f injection.Features, spec string) string {
	t.Helper()
	set := setOf(t, "demo", spec)
	if what == "hashes" {
		hashes, err := f.HashesOf(set)
		if diff := cmp.Diff(setOf(t, "demo", spec), set); diff != "" || err != nil {
			t.Errorf("error %v, and the SidecarSet is changed:\n%s", err, diff)
		}
		return hashes.Containers + "\n" + hashes.WithoutImage
	}
	f.Default(set)
	again := set.DeepCopy()
	f.Default(again)
	if diff := cmp.Diff(set, again); diff != "" {
		t.Errorf("a second call changes the defaults:\n%s", diff)
	}
	if what == "defaults" {
		return patches.JSON(t, set.Spec)
	}
	data, err := injection.RevisionData(set)
	if err != nil {
		t.Error(err)
	}
	return revision.Name(set.Name, revision.Hash(data, nil)) + " " + string(data)
}

// describe shows what has become of each SidecarSet, and of the pod.
func describe(t testing.TB, before *corev1.Pod, r *injection.Result) (out []string) {
	t.Helper()
	for _, set := range r.SidecarSets {
		switch {
		case set.Skipped != "":
			out = append(out, set.Name+" is skipped: "+set.Skipped)
		case len(set.LeftOut) > 0:
			out = append(out, fmt.Sprint(set.Name, " injects ", set.InitContainers, " and ", set.Containers, ", and leaves out ", set.LeftOut))
		default:
			out = append(out, fmt.Sprint(set.Name, " injects ", set.InitContainers, " and ", set.Containers))
		}
		if set.Revision != "" {
			out = append(out, "of the revision "+set.Revision)
		}
		for _, kept := range set.Kept {
			out = append(out, "kept: "+kept.Error())
		}
	}
	if r.Pod == before {
		return append(out, "the pod stays")
	}
	for _, c := range r.Pod.Spec.InitContainers {
		out = append(out, "init container "+show(t, c))
	}
	for _, c := range r.Pod.Spec.Containers {
		out = append(out, "container "+show(t, c))
	}
	if len(r.Pod.Spec.Volumes)+len(r.Pod.Spec.ImagePullSecrets) > 0 {
		out = append(out, "volumes "+patches.JSON(t, r.Pod.Spec.Volumes), "pull secrets "+patches.JSON(t, r.Pod.Spec.ImagePullSecrets))
	}
	for _, key := range slices.Sorted(maps.Keys(r.Pod.Annotations)) {
		out = append(out, key+": "+r.Pod.Annotations[key])
	}
	return out
}

// show describes a container: its image, variables and mounts, and what else it has beside the defaults.
func show(t testing.TB, c corev1.Container) string {
	t.Helper()
	text := c.Name
	if c.Image != "" {
		text += "=" + c.Image
	}
	for _, e := range c.Env {
		if text += " " + e.Name; e.ValueFrom != nil {
			text += "<" + e.ValueFrom.FieldRef.FieldPath
		} else if e.Name != v1alpha1.SidecarInjectedEnv {
			text += ":" + e.Value
		}
	}
	for _, m := range c.VolumeMounts {
		text += fmt.Sprintf(" %s@%s", m.Name, m.MountPath)
	}
	c.Name, c.Image, c.Env, c.VolumeMounts = "", "", nil, nil
	const defaults = `,"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"`
	if rest := strings.Replace(patches.JSON(t, c), defaults, "", 1); rest != `{"name":"","resources":{}}` {
		text += strings.Replace(rest, `{"name":"",`, " {", 1)
	}
	return text
}

// What cannot be done without an object or a time.
func TestErrors(t *testing.T) {
	pod, set := &corev1.Pod{}, setOf(t, "demo", "{}")
	if got := injection.Matches(nil, pod, nil); got != "there is no SidecarSet" {
		t.Errorf("without a SidecarSet: %q", got)
	}
	if got := injection.Matches(set, nil, nil); got != "there is no pod" {
		t.Errorf("without a pod: %q", got)
	}
	for _, in := range []injection.Input{{Now: noon}, {Pod: pod}} {
		if _, err := injection.Inject(in); err == nil {
			t.Errorf("no error of %+v", in)
		}
	}
	_, hashes := injection.HashesOf(nil)
	if _, data := injection.RevisionData(nil); hashes == nil || data == nil {
		t.Errorf("without a SidecarSet: error %v of the hashes, %v of the revision", hashes, data)
	}
}

func TestFeaturesOf(t *testing.T) {
	if got := injection.FeaturesOf(podwright.Release14); got != (injection.Features{}) {
		t.Errorf("1.4: %+v", got)
	}
	want := injection.Features{InitContainerDefaults: true, InitContainerRecords: true, NativeSidecars: true}
	if got := injection.FeaturesOf(podwright.Release19); got != want {
		t.Errorf("1.9: %+v, want %+v", got, want)
	}
}
