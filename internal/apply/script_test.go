// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	clock "k8s.io/utils/clock/testing"

	"github.com/podwright/podwright"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/internal/predownload"
	fakefixture "github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// TestScripts plays writes of the controller of the StatefulSet web. Each directive "play" begins anew, with lines that are steps of
// others or of the controller. Of the latter it shows what they sent, recorded and returned. It shows the caches for which the next
// reconcile waits, and the writes that it looks for since their answer was lost. To accept a change of behaviour, run the test with
// -rewrite and read the difference.
//
// Steps of others:
//
//	pod NAME…, claim NAME [held] [controlled] [owners=a,b], revision NAME IMAGE [owner=UID [controller]] [unlabelled] [data]
//	                     create objects. The controller knows them as they are then
//	remove POD, replace POD, label POD, remove-claim, replace-claim, share-claim, remove-revision, replace-revision, raise-revision
//	remove-set, finalize-set, edit-set, recreate-set, label-set, report-set
//	admission KEY=VALUE  changes labels of what is created; without a value they are gone
//	fail REQUEST… with=ERROR, or with=CODE, fail-dry-run ERROR, heal
//	meanwhile reports|restarts|puts-back N
//	                     has others change the pod web-0 before each of the first N patches of pods
//
// The controller is set to generated names, identified-by LABEL, selects KEY=VALUE, recreates, refused-before, budget allows|denies|lost. Its events
// are told by a function of the kind, or silent. places KEY=VALUE changes labels of new pods; without a value they are gone. begin
// begins the next reconcile with the set that is stored, begin-edited with the one that was edited, and forget with nothing known of it.
// begin-unseen begins with the set that is stored, whose status is as it was.
//
// For the steps of the controller, see writes and planned. set, claims, revisions and refused show what there is afterwards.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "play" {
				d.Fatalf(t, "unknown directive %s", d.Cmd)
			}
			var w *world
			fakefixture.Play(t, setResource, func(c *fakefixture.Cluster) { w = &world{fixture: &fixture{c: c}} }, func(*testing.T) { w.play(d) })
			return w.out.String()
		})
	})
}

// world is a reconcile with what the controller knows.
type world struct {
	*fixture
	pods      map[string]*corev1.Pod
	claims    map[string]*corev1.PersistentVolumeClaim
	revisions map[string]*appsv1.ControllerRevision
	budget    string
	recreates bool
	a         *Applier[v1beta1.StatefulSetStatus]
	out       strings.Builder
}

// play plays steps, a line each.
func (w *world) play(d *datadriven.TestData) {
	w.fixture = newFixture(w.c)
	w.pods, w.claims, w.revisions = map[string]*corev1.Pod{}, map[string]*corev1.PersistentVolumeClaim{}, map[string]*appsv1.ControllerRevision{}
	w.Records = map[rollout.PatchKind]Action{rollout.PatchUpdateInPlace: UpdateInPlace, rollout.PatchCancelDelete: Update}
	for line := range strings.Lines(d.Input) {
		step := readStep(line)
		if !w.others(step) && !w.settings(step) && !w.writes(step) && !w.planned(step) && !w.show(step) {
			d.Fatalf(w.c.T, "unknown step %s", line)
		}
	}
}

// placement changes pods that are to be created.
type placement func(*corev1.Pod)

func (p placement) PlacePod(_ context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	pod = pod.DeepCopy()
	p(pod)
	return pod, nil
}

// refusedJobs refuses to create jobs.
type refusedJobs struct {
	predownload.Jobs
	asked int
}

func (j *refusedJobs) Create(context.Context, *distributionv1alpha1.ImagePullJob) error {
	j.asked++
	return failure("ending")
}

// step is a line: a name, and words, of which some are key=value.
type step struct {
	name   string
	words  []string
	values map[string]string
}

func readStep(line string) step {
	fields := strings.Fields(line)
	s := step{name: fields[0], values: map[string]string{}}
	for _, word := range fields[1:] {
		if key, value, found := strings.Cut(word, "="); found {
			s.values[key] = value
		} else {
			s.words = append(s.words, word)
		}
	}
	return s
}

func (s step) has(word string) bool { return slices.Contains(s.words, word) }

func (s step) list(key string) (items []string) {
	if s.values[key] != "" {
		items = strings.Split(s.values[key], ",")
	}
	return items
}

// settings sets the controller.
func (w *world) settings(s step) bool {
	switch s.name {
	case "generated":
		w.GeneratedNames = true
	case "identified-by":
		w.IdentifiedBy = s.words
	case "selects":
		w.Selected = labels.SelectorFromSet(s.values)
	case "places":
		w.Placement = placement(func(pod *corev1.Pod) { pod.Labels = relabelled(pod.Labels, s.values) })
	case "told":
		w.Message = func(o Outcome) string {
			return fmt.Sprintf("%s Claim %q Pod %s in StatefulSet %s: %v, 100%%", o.Action, o.Claim, o.Pod, o.Workload, o.Err)
		}
	case "silent":
		w.Recorder = nil
	case "revisions-in":
		w.RevisionNamespace = s.words[0]
	case "recreates":
		w.recreates = true
	case "refused-before":
		w.Refusals.Until = time.Unix(1000, 0)
	case "budget":
		w.budget = s.words[0]
	case "begin":
		w.c.Must(w.read(w.set))
		w.Sync = w.Begin(w.set)
	case "begin-unseen":
		var set v1beta1.StatefulSet
		w.c.Must(w.read(&set))
		w.Sync = w.Begin(&v1beta1.StatefulSet{ObjectMeta: set.ObjectMeta, Status: w.set.Status})
	case "begin-edited":
		w.Sync = w.Begin(w.set)
	case "forget":
		w.Writer.Forget(w.Key)
		w.Sync = w.Begin(w.set)
	default:
		return false
	}
	return true
}

// known is a pod as the controller knows it, or one that is not there.
func (w *world) known(name string) *corev1.Pod {
	if known := w.pods[name]; known != nil {
		return known
	}
	return pod(name)
}

// writes plays a write of the controller.
//
//	create POD… [claims=a,b] [controlled]   with n=N, as many of the name; labelled with app, team and a revision
//	tries                                   creates it every second for an hour, and shows when that was tried
//	pull                                    has two images pulled ahead, in a namespace that is being deleted
//	write-status [ready=N], rewrite-status  with a condition; wrote shows which status is known as its own
//	delete POD… [update]
//	patch POD [kind=KIND] [label] [condition] [image] [resize] [throughout]
//	write POD                               a label
//	find RESOURCE NAME [shown|unknown]      looks whether a write was made, if the cache shows it or cannot tell
//	finalizers NAME…
//	own-claim NAME                          gives it an owner
//	change-claim NAME UID…                  gives it these owners
//	prepare [create=NAME] [missing=NAME] [raise=NAME] [no-selector], adopt-revisions NAME…, delete-revisions NAME…
func (w *world) writes(s step) bool {
	ctx := w.c.T.Context()
	var err error
	switch s.name {
	case "create":
		err = w.createPods(w.creations(s)...)
	case "tries":
		w.tries(s)
		return true
	case "pull":
		jobs := &refusedJobs{}
		err = w.preDownload(ctx, jobs, history("web-2", "nginx:2"), rollout.PreDownload{Create: []*distributionv1alpha1.ImagePullJob{{}, {}}, Label: "tried"})
		fmt.Fprintln(&w.out, jobs.asked, "creations of jobs")
	case "write-status":
		err = w.WriteStatus(ctx, &w.set.Status, w.status(s))
	case "rewrite-status":
		err = w.rewriteStatus(ctx, w.status(s))
	case "wrote":
		fmt.Fprintf(&w.out, "its own: by the version %t, by what it says %t, another %t\n", w.WroteStatus(w.Key, w.Version, "none"),
			w.WroteStatus(w.Key, "before the answer", w.status(s)), w.WroteStatus(w.Key, "another", &v1beta1.StatefulSetStatus{Replicas: 99}))
		return true
	case "delete":
		action := map[bool]Action{true: Recreate, false: Delete}[s.has("update")]
		err = Each(ctx, slices.DeleteFunc(slices.Clone(s.words), func(word string) bool { return word == "update" }), func(ctx context.Context, name string) error {
			_, err := w.DeletePod(ctx, w.known(name), action)
			return err
		})
	case "patch":
		patch := w.patch(s)
		err = w.PatchPods(ctx, []rollout.PodPatch{patch})
		if resize := (*rollout.ResizeError)(nil); errors.As(err, &resize) {
			fmt.Fprintf(&w.out, "of the resize: begun %t, unsupported %t, left with %d conditions\n",
				resize.Begun, resize.Unsupported, len(asLeft(&patch, err).Status.Conditions))
		}
	case "write":
		marked := w.patch(step{words: []string{s.words[0], "label"}})
		writes, writesErr := marked.Patch.Writes(marked.Pod)
		w.c.Must(writesErr)
		err = w.WritePod(ctx, w.known(s.words[0]), writes[0], "the mark")
	case "find":
		version, gone, failed := w.live().Find(ctx, podwright.Resource(s.words[0]), "default", s.words[1], func() (bool, error) {
			return s.has("shown"), map[bool]error{true: fakefixture.ErrLost}[s.has("unknown")]
		})
		fmt.Fprintf(&w.out, "found %t, gone %t\n", version != "", gone)
		err = failed
	case "finalizers":
		err = w.WriteFinalizers(ctx, s.words)
		fmt.Fprintln(&w.out, "the set is gone:", w.Gone)
	case "own-claim":
		c := w.claims[s.words[0]]
		err = w.PatchClaim(ctx, c, fmt.Appendf(nil, `{"metadata":{"uid":%q,"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"web-0","uid":"u"}]}}`, c.UID))
	case "change-claim":
		err = w.ChangeClaim(ctx, w.claimPatch(s.words[0], s.words[1:]...))
	case "prepare":
		err = w.prepare(s)
	case "adopt-revisions":
		err = w.AdoptRevisions(ctx, w.knownRevisions(s.words), owner("set"))
	case "delete-revisions":
		err = w.DeleteRevisions(ctx, w.knownRevisions(s.words))
	default:
		return false
	}
	w.came(err)
	return true
}

func (w *world) creations(s step) (creations []rollout.PodCreation) {
	n := 1
	fmt.Sscan(s.values["n"], &n)
	for i := range n {
		c := rollout.PodCreation{Pod: pod(s.words[0])}
		if s.has("labelled") {
			c.Pod.Labels = map[string]string{"app": "web", "team": "a", podplan.RevisionLabel: "web-1"}
		}
		if n > 1 {
			c.Pod.Name = fmt.Sprintf("%s-%d", s.words[0], i)
		}
		for _, name := range s.list("claims") {
			created := claim(name)
			if s.has("controlled") {
				created.OwnerReferences = controlled()
			}
			c.Claims = append(c.Claims, created)
		}
		creations = append(creations, c)
	}
	return creations
}

// status is one that the controller writes.
func (w *world) status(s step) *v1beta1.StatefulSetStatus {
	status := w.set.Status.DeepCopy()
	status.CurrentRevision, status.ReadyReplicas = "", 2
	status.Conditions = []appsv1.StatefulSetCondition{{Type: "FailedCreatePod", Status: "True"}}
	fmt.Sscan(s.values["ready"], &status.ReadyReplicas)
	return status
}

// tries creates a pod every second, and shows after what times it was tried.
func (w *world) tries(s step) {
	now := clock.NewFakeClock(time.Unix(1000, 0))
	w.Clock = now
	var after []string
	for range 3600 {
		if _ = w.createPods(w.creations(s)...); slices.Contains(w.requests(), "create pods") {
			after = append(after, now.Since(time.Unix(1000, 0)).String())
		}
		w.ForgetRequests()
		now.Step(time.Second)
	}
	w.c.Events.Forget()
	fmt.Fprintln(&w.out, "tried after", strings.Join(after, ", "))
}

func (w *world) patch(s step) rollout.PodPatch {
	patch := &podpatch.Patch{IfUnchanged: s.has("throughout"), Throughout: s.has("throughout")}
	if s.has("resize") {
		patch.SetResources("main", corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}})
	}
	if s.has("label") {
		patch.SetLabel("a", "b")
	}
	if s.has("condition") {
		patch.SetCondition(corev1.PodCondition{Type: "A", Status: "False"})
	}
	if s.has("image") {
		patch.SetImage("main", "nginx:2")
	}
	return rollout.PodPatch{Pod: w.known(s.words[0]), Patch: patch, Kind: rollout.PatchKind(s.values["kind"])}
}

func (w *world) claimPatch(name string, owners ...string) rollout.ClaimPatch {
	patch := rollout.ClaimPatch{Claim: w.claims[name]}
	for _, uid := range owners {
		patch.Owners = append(patch.Owners, owner(types.UID(uid)))
	}
	return patch
}

func (w *world) knownRevisions(names []string) (known []*appsv1.ControllerRevision) {
	for _, name := range names {
		r := w.revisions[name]
		if r == nil {
			var err error
			r, err = w.c.Kube.AppsV1().ControllerRevisions(cmp.Or(w.RevisionNamespace, "default")).Get(w.c.T.Context(), name, metav1.GetOptions{})
			w.c.Must(err)
		}
		known = append(known, r)
	}
	return known
}

func (w *world) prepare(s step) error {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	if s.has("no-selector") {
		selector = nil
	}
	changes := &revision.Changes{Missing: s.values["missing"], Raise: w.revisions[s.values["raise"]], RaiseTo: 7}
	if name := s.values["create"]; name != "" {
		changes.Create = history(name, "nginx:2")
		changes.Create.Namespace = cmp.Or(w.RevisionNamespace, "default")
	}
	state, err := w.PrepareRevisions(w.c.T.Context(), changes, selector, sameTemplate)
	fmt.Fprintln(&w.out, map[RevisionState]string{Unsettled: "unsettled", Settled: "settled", Collided: "collided"}[state])
	return err
}
