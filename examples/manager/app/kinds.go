// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/examples/kit/metrics"
	"github.com/podwright/podwright/examples/process/controllers"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/examples/process/switches"
	"github.com/podwright/podwright/lifecycle/podwebhook"
	"github.com/podwright/podwright/workloads"
	workloadsclient "github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/cronjob"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// kinds returns all that the manager runs and serves, and defines what a kind alone is told as flags. A new kind is one
// more entry in the list of its area.
func kinds(f *pflag.FlagSet) []kind {
	return slices.Concat(workloadKinds(f), distributionKinds(f), lifecycleKinds(f), []kind{pods()}, sidecarKinds(f), availabilityKinds(f))
}

func workloadKinds(f *pflag.FlagSet) []kind {
	return []kind{cloneSets(f), statefulSets(f), daemonSets(f), broadcastJobs(f), advancedCronJobs(f), unitedDeployments(f)}
}

// kind is one kind of objects: the controller that manages them, and the webhook.
type kind struct {
	// name is that of the controller, in metrics, events and user agents. Empty: there is only a webhook.
	name string
	// gate switches the controller, and so does orGate, if there is one. Empty: it always runs.
	gate, orGate features.Gate
	// resource must be served before the controller runs.
	resource schema.GroupVersionResource
	// beside are resources that are installed together with its own: it waits for them, for a bit.
	beside []schema.GroupVersionResource
	// optional are resources that it can do without, and without is what the log says if one is not served.
	optional []schema.GroupVersionResource
	without  string
	// compose describes the controller, made of its options, without a webhook.
	compose func(context.Context, *parts) (podwright.Kind, error)
	// webhook describes what is served in every replica. Default nil: nothing.
	webhook func(*admissions) (podwright.Kind, error)
}

// parts are what a controller is composed of.
type parts struct {
	*controllers.Own
	caches                  *caches
	namespace, ownNamespace string
	cacheSyncTimeout        time.Duration
	gates                   *features.Gates
	webhooks                bool // are served
	served                  map[schema.GroupVersionResource]bool
}

// options say how a controller runs.
func (p *parts) options(workers int) podwright.ControllerOptions {
	return podwright.ControllerOptions{
		Namespace: p.namespace, Workers: workers, CacheSyncTimeout: p.cacheSyncTimeout, Recorders: p.Recorders, Metrics: reconciles,
	}
}

var (
	cloneSetsResource     = v1alpha1.SchemeGroupVersion.WithResource("clonesets")
	statefulSetsResource  = v1beta1.SchemeGroupVersion.WithResource("statefulsets")
	daemonSetsResource    = v1alpha1.SchemeGroupVersion.WithResource("daemonsets")
	broadcastJobsResource = v1alpha1.SchemeGroupVersion.WithResource("broadcastjobs")

	imageListPullJobsResource = v1alpha1.SchemeGroupVersion.WithResource("imagelistpulljobs")
	podsResource              = corev1.SchemeGroupVersion.WithResource("pods")
)

func cloneSets(f *pflag.FlagSet) kind {
	workers := f.Int("cloneset-workers", 3, "CloneSets reconciled at the same time")
	settings := switches.NewSettings()
	settings.AddCloneSets(f)
	return kind{
		name: "cloneset-controller", resource: cloneSetsResource,
		compose: func(ctx context.Context, p *parts) (podwright.Kind, error) {
			jobs, err := p.imagePullJobs(ctx, features.PreDownloadImageForInPlaceUpdate)
			budget, err2 := p.budget(ctx)
			on := settings.CloneSet(p.gates)
			on.PreDownload = jobs != nil
			return cloneset.Describe(cloneset.Options{
				Kubernetes: p.Kubernetes, Workloads: p.Workloads, ControllerOptions: p.options(*workers),
				CloneSets: p.caches.cloneSets(), Pods: p.caches.pods(), Claims: p.caches.claims(), Revisions: p.caches.revisions(), Nodes: p.caches.nodes(),
				Jobs: jobs, Budget: budget, Placement: p.caches.spreads, Features: on,
			}, nil), errors.Join(err, err2)
		},
		webhook: func(a *admissions) (podwright.Kind, error) {
			return cloneset.Describe(cloneset.Options{}, &cloneset.Webhook{
				TemplateNoDefaults:        a.gates.Enabled(features.TemplateNoDefaults),
				DisableDeletionProtection: !a.gates.Enabled(features.ResourcesDeletionProtection),
				InPlaceResize:             a.gates.Enabled(features.InPlaceWorkloadVerticalScaling),
				PercentSigns:              a.gates.Enabled(features.CloneSetPercentSigns),
				Pods:                      podGetter(a),
				Templates:                 workloads.DryRun(a.CoreV1()),
			}), nil
		},
	}
}

func (c *caches) cloneSets() cache.SharedIndexInformer {
	return shared(c, &v1alpha1.CloneSet{}, c.clients.Workloads, workloadsclient.NewCloneSetInformer)
}

func statefulSets(f *pflag.FlagSet) kind {
	workers := f.Int("statefulset-workers", 3, "StatefulSets reconciled at the same time")
	return kind{
		name: "statefulset-controller", resource: statefulSetsResource,
		compose: func(ctx context.Context, p *parts) (podwright.Kind, error) {
			jobs, err := p.imagePullJobs(ctx, features.PreDownloadImageForInPlaceUpdate)
			budget, err2 := p.budget(ctx)
			on := switches.StatefulSet(p.gates)
			on.PreDownload = jobs != nil
			return statefulset.Describe(statefulset.Options{
				Kubernetes: p.Kubernetes, Workloads: p.Workloads, ControllerOptions: p.options(*workers),
				AdvancedStatefulSets: p.caches.statefulSets(), Pods: p.caches.pods(), Claims: p.caches.claims(), Revisions: p.caches.revisions(),
				Jobs: jobs, Budget: budget, Placement: workloads.Placements{p.caches.spreads, p.caches.states}, Features: on,
			}, nil), errors.Join(err, err2)
		},
		webhook: func(a *admissions) (podwright.Kind, error) {
			return statefulset.Describe(statefulset.Options{}, &statefulset.Webhook{
				TemplateNoDefaults:        a.gates.Enabled(features.TemplateNoDefaults),
				DisableDeletionProtection: !a.gates.Enabled(features.ResourcesDeletionProtection),
				InPlaceResize:             a.gates.Enabled(features.InPlaceWorkloadVerticalScaling),
				Features:                  switches.StatefulSet(a.gates),
				StorageClasses:            a.StorageV1().StorageClasses(),
				Templates:                 workloads.DryRun(a.CoreV1()),
			}), nil
		},
	}
}

func (c *caches) statefulSets() cache.SharedIndexInformer {
	return shared(c, &v1beta1.StatefulSet{}, c.clients.Workloads, workloadsclient.NewStatefulSetInformer)
}

var schedules = metrics.NewSchedules(ctrlmetrics.Registry)

func advancedCronJobs(f *pflag.FlagSet) kind {
	workers := f.Int("advancedcronjob-workers", 20, "AdvancedCronJobs reconciled at the same time")
	return kind{
		name: "advancedcronjob-controller", resource: v1alpha1.SchemeGroupVersion.WithResource("advancedcronjobs"),
		beside: these(broadcastJobsResource, imageListPullJobsResource), optional: these(broadcastJobsResource, imageListPullJobsResource),
		without: "No jobs of a kind are created on schedule",
		compose: func(_ context.Context, p *parts) (podwright.Kind, error) {
			o := cronjob.Options{
				Kubernetes: p.Kubernetes, Workloads: p.Workloads, ControllerOptions: p.options(*workers),
				ScheduleMetrics: schedules, CronJobs: p.caches.advancedCronJobs(), Jobs: p.caches.jobs(),
				BroadcastJobs: p.optional(broadcastJobsResource, p.caches.broadcastJobs), NoBroadcastJobs: !p.served[broadcastJobsResource],
			}
			if p.served[imageListPullJobsResource] {
				o.Distribution, o.ImageListPullJobs = p.Distribution, p.caches.imageListPullJobs()
			}
			return cronjob.Describe(o, nil), nil
		},
		webhook: func(a *admissions) (podwright.Kind, error) {
			return cronjob.Describe(cronjob.Options{}, &cronjob.Webhook{TemplateNoDefaults: a.gates.Enabled(features.TemplateNoDefaults)}), nil
		},
	}
}

func (c *caches) advancedCronJobs() cache.SharedIndexInformer {
	return shared(c, &v1alpha1.AdvancedCronJob{}, c.clients.Workloads, workloadsclient.NewAdvancedCronJobInformer)
}

// pods are given what several of the kinds above need; see newAdmissions for what that is.
func pods() kind {
	return kind{webhook: func(a *admissions) (podwright.Kind, error) {
		described := podwebhook.Describe(a.pods)
		if !a.gates.Enabled(features.PodWebhook) {
			described.Admission.Handlers = nil // the webhooks of the kinds read the same caches
		}
		return described, nil
	}}
}

// podGetter asks for pods one by one. They matter only to the rare change of podsToDelete and to new
// ContainerRecreateRequests, which need the newest state. So replicas that do not lead keep no cache of pods.
func podGetter(k kubernetes.Interface) func(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	return func(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
		return k.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	}
}

// imagePullJobs returns what pulls images ahead of an update; the workloads all ask for the same methods. It
// returns nil if the gate is off or ImagePullJobs are not served: that must not keep workloads from working.
func (p *parts) imagePullJobs(ctx context.Context, gate features.Gate) (workloads.ImagePullJobs, error) {
	if !p.gates.Enabled(gate) {
		return nil, nil
	}
	served, err := p.serves(ctx, imagePullJobsResource, "No images are pulled ahead of updates")
	if err != nil || !served {
		return nil, err
	}
	jobs := p.caches.imagePullJobs()
	p.Synced = append(p.Synced, jobs.HasSynced)
	return workloads.NewImagePullJobs(p.Distribution, jobs)
}

// besideTime is how long a CRD may come after one that is installed together with it.
const besideTime = 10 * time.Second

// look finds out what is served of what a controller can do without.
func (p *parts) look(ctx context.Context, k *kind) (err error) {
	for _, resource := range k.beside {
		err := wait.PollUntilContextTimeout(ctx, time.Second, besideTime, true, func(ctx context.Context) (bool, error) { return p.Serves(ctx, resource) })
		if err != nil && (ctx.Err() != nil || !wait.Interrupted(err)) {
			return err
		}
	}
	p.served = map[schema.GroupVersionResource]bool{}
	for _, resource := range k.optional {
		if p.served[resource], err = p.serves(ctx, resource, k.without); err != nil {
			return err
		}
	}
	return nil
}

// serves tells whether a resource is served that a controller can do without. If it is not, the log says what follows.
func (p *parts) serves(ctx context.Context, resource schema.GroupVersionResource, without string) (bool, error) {
	served, err := p.Serves(ctx, resource)
	if err == nil && !served {
		klog.FromContext(ctx).Info(without+" until the next start, because the CRD is not installed", "crd", resource.GroupResource())
	}
	return served, err
}

// optional returns the informer of an optional resource of the kind; nil if it is not served.
func (p *parts) optional(resource schema.GroupVersionResource, informer informer) cache.SharedIndexInformer {
	if !p.served[resource] {
		return nil
	}
	return informer()
}

func these(resources ...schema.GroupVersionResource) []schema.GroupVersionResource { return resources }
