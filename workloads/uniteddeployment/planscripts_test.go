// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestPlans plays the scripts in testdata/plans: what is planned for a UnitedDeployment, when that is done, and what is planned then.
// What is generated in names of workloads is X. Revisions are R1, R2 and so on, in the order in which they were created; in patches $R1.
//
//	create                      a UnitedDeployment with the lines of the spec that follow; see newSet. A line "template-of Kind: fields"
//	                            is a template of workloads of a kind
//	edit                        changes its spec by the merge patch that follows, or its template by such a line
//	image x                     changes the image of its template
//	feature name…               switches features on, or off if they are on
//	without Kind, deleting, sleep 1m, forget, taken
//	                            a kind is not served; the UnitedDeployment is being deleted; time passes; its revisions are gone;
//	                            the names of its workloads are taken
//	workload subset [as=uid]    changes the workload of a subset, or of all, by the merge patch that follows; or adds another one
//	remove subset               its workload is gone
//	set, revision n             changes the UnitedDeployment, or a revision, by the merge patch that follows
//	held subset 1m              a subset has been held up for so long
//	pods subset n [ready=m] [old]
//	                            has its pods be so many, at the present revision or the one before
//	pod subset i                changes one of its pods, by the patch that follows
//	plan, do, settle            shows the plan; does it; does all until there is nothing left to do
//	status [field…]             shows the planned status; written whether it is written
//	recorded                    shows the revision of the present template, all of it
//	names                       shows the names of new workloads, with what is generated in them
//	show subset path…           shows fields of its workload
//	blocking pods=letters       shows which pods are deleted that block an update: see scripted.blocking
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata/plans", func(t *testing.T, path string) {
		p := &scripted{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return p.run(t, d) })
	})
}

// scripted is the world of a script.
type scripted struct{ *world }

var workloadName = regexp.MustCompile(`\bweb-([abc])-[a-z0-9]{5}\b`)

func (w *scripted) run(t *testing.T, d *datadriven.TestData) string {
	if d.Cmd == "create" {
		w.world = newWorld(t, newSet(t, withTemplates(d.Input)...))
		w.Now = start
	}
	if d.Cmd == "blocking" {
		return w.blocking(t, d.CmdArgs[0].Vals[0], d.Input+" ")
	}
	w.TB = t
	first := ""
	if len(d.CmdArgs) > 0 {
		first = d.CmdArgs[0].Key
	}
	switch d.Cmd {
	case "edit":
		w.change(d.Input)
	case "image":
		w.edit(func(s *v1alpha1.UnitedDeploymentSpec) { podTemplate(&s.Template).Spec.Containers[0].Image = first })
	case "feature":
		for _, a := range d.CmdArgs {
			f := reflect.ValueOf(&w.Features).Elem().FieldByName(a.Key)
			f.SetBool(!f.Bool())
		}
	case "without":
		w.Without = []TemplateKind{TemplateKind(first)}
	case "deleting":
		w.Set.DeletionTimestamp = &metav1.Time{}
	case "sleep":
		w.Now = w.Now.Add(patches.Duration(t, first))
	case "forget":
		w.Revisions = nil
	case "taken":
		for _, c := range w.children() {
			w.Taken = append(w.Taken, c.Object.GetName())
		}
	case "workload":
		w.changeWorkloads(d, first)
	case "pods", "pod":
		w.changePods(d, first)
	case "set":
		w.Set = w.patched(w.Set, toJSON(w, d.Input)).(*v1alpha1.UnitedDeployment)
	case "revision":
		n := patches.Number(t, first) - 1
		w.Revisions[n] = w.patched(w.Revisions[n], toJSON(w, d.Input)).(*appsv1.ControllerRevision)
	case "remove":
		w.world.remove(w.world.set(first).Object.GetUID())
	case "held":
		w.HeldSince = map[rollout.Subject]time.Time{{Kind: "subset", Name: first}: w.Now.Add(-patches.Duration(t, d.CmdArgs[1].Key))}
	case "do":
		w.do(NewPlan(&w.Snapshot))
	case "settle":
		w.settle()
	case "plan":
		plan := NewPlan(&w.Snapshot)
		text := plan.String() + map[bool]string{true: "\nlabel all pods"}[plan.LabelAll]
		if plan.RequeueAfter > 0 {
			text += fmt.Sprint("\nagain after ", plan.RequeueAfter)
		}
		return w.shown(text)
	case "status":
		return w.showFields(NewPlan(&w.Snapshot).Status, d.CmdArgs)
	case "written":
		return fmt.Sprintln(!sameStatus(&w.Set.Status, NewPlan(&w.Snapshot).Status))
	case "recorded":
		return w.recorded()
	case "names":
		var out strings.Builder
		for _, c := range NewPlan(&w.Snapshot).Create {
			fmt.Fprintln(&out, c.Object.GetName())
		}
		return out.String()
	case "show":
		return w.showFields(w.set(first).Object, d.CmdArgs[1:])
	}
	return ""
}

// withTemplates are the lines of a spec, with templates for lines "template-of Kind: fields".
func withTemplates(input string) (lines []string) {
	for line := range strings.SplitSeq(input, "\n") {
		if rest, is := strings.CutPrefix(line, "template-of "); is {
			kind, fields, _ := strings.Cut(rest, ":")
			line = templateYAML(TemplateKind(kind), strings.TrimSpace(fields))
		}
		lines = append(lines, line)
	}
	return lines
}

// change changes the spec.
func (w *scripted) change(input string) {
	w.Helper()
	patch := toJSON(w, strings.Join(withTemplates(input), "\n"))
	before := w.Set.Spec.DeepCopy()
	if strings.Contains(string(patch), `"template":`) { // a template is another one as a whole
		before.Template = v1alpha1.SubsetTemplate{}
	}
	data, err := jsonpatch.MergePatch([]byte(patches.JSON(w, before)), patch)
	w.must(err)
	w.edit(func(s *v1alpha1.UnitedDeploymentSpec) {
		*s = v1alpha1.UnitedDeploymentSpec{}
		w.must(json.Unmarshal(data, s))
	})
}

// changeWorkloads changes the workload of a subset, or of all.
func (w *scripted) changeWorkloads(d *datadriven.TestData, subset string) {
	w.Helper()
	input := d.Input
	for i, r := range w.Revisions {
		input = strings.ReplaceAll(input, fmt.Sprint("$R", i+1), r.Name)
	}
	patch := toJSON(w, input)
	for _, c := range w.children() {
		if subset != "all" && c.Subset != subset {
			continue
		}
		object := w.patched(c.Object, patch)
		if len(d.CmdArgs) > 1 {
			object.SetUID(types.UID(d.CmdArgs[1].Vals[0]))
		}
		w.put(object)
	}
}

// changePods has pods of a subset be so many, or changes one of them.
func (w *scripted) changePods(d *datadriven.TestData, subset string) {
	w.Helper()
	n := patches.Number(w, d.CmdArgs[1].Key)
	if d.Cmd == "pod" {
		for i, pod := range w.Pods {
			if pod.Name == fmt.Sprint(subset, n) {
				w.Pods[i] = pod.DeepCopy()
				w.must(yaml.Unmarshal([]byte(d.Input), w.Pods[i]))
			}
		}
		return
	}
	revisions, ready := NewPlan(&w.Snapshot).Revisions, n
	revision := revisions.Update.Name
	for _, a := range d.CmdArgs[2:] {
		if a.Key == "old" {
			revision = revisions.Current.Name
		} else {
			ready = patches.Number(w, a.Vals[0])
		}
	}
	w.Pods = slices.DeleteFunc(w.Pods, func(pod *corev1.Pod) bool { return strings.HasPrefix(pod.Name, subset) })
	for i := range n {
		w.pod(fmt.Sprint(subset, i), w.set(subset).Object, revision, i < ready)
	}
}

// recorded shows the revision of the present template, which is read back from it.
func (w *scripted) recorded() string {
	r := NewPlan(&w.Snapshot).Revisions.Update
	template, err := templateOf(r)
	w.must(err)
	if diff := cmp.Diff(&w.Set.Spec.Template, template); diff != "" {
		w.Errorf("read back (-want +got):\n%s", diff)
	}
	return fmt.Sprintf("%s %v\nowners %d\n%s\n", r.Name, r.Labels, len(r.OwnerReferences), r.Data.Raw)
}

// toJSON is YAML as JSON.
func toJSON(t testing.TB, text string) []byte {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// showFields shows fields of an object, or all.
func (w *scripted) showFields(object any, paths []datadriven.CmdArg) string {
	w.Helper()
	var tree map[string]any
	w.must(json.Unmarshal([]byte(patches.JSON(w, object)), &tree))
	if len(paths) == 0 {
		data, err := yaml.Marshal(tree)
		w.must(err)
		return w.shown(string(data))
	}
	var out strings.Builder
	for _, path := range paths {
		value, found, err := unstructured.NestedFieldNoCopy(tree, strings.Split(path.Key, ".")...)
		w.must(err)
		text := "none"
		if found {
			text = patches.JSON(w, value)
		}
		fmt.Fprintf(&out, "%s: %s\n", path.Key, text)
	}
	return w.shown(out.String())
}

// shown is a text without what is generated in names.
func (w *scripted) shown(text string) string {
	text = workloadName.ReplaceAllString(strings.TrimPrefix(text, "\n"), "web-$1-X")
	if r := NewPlan(&w.Snapshot).Revisions.Create; r != nil {
		text = strings.ReplaceAll(text, r.Name, fmt.Sprint("R", len(w.Revisions)+1))
	}
	for i, r := range w.Revisions {
		text = strings.ReplaceAll(text, r.Name, fmt.Sprint("R", i+1))
	}
	if text != "" {
		text = strings.TrimSuffix(text, "\n") + "\n"
	}
	return text
}
