// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/image/imagepulljob"
	"github.com/podwright/podwright/distribution/image/nodeimage"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/process/controllers"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/lifecycle/launchpriority"
	"github.com/podwright/podwright/lifecycle/podreadiness"
	"github.com/podwright/podwright/lifecycle/recreate"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/sidecar/terminator"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/cronjob"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// kinds returns all that the manager runs and serves, and defines what a kind alone is told as flags. A new kind is one
// more entry here.
func kinds(f *pflag.FlagSet) []kind {
	return []kind{
		cloneSets(f), statefulSets(f), daemonSets(f), broadcastJobs(f), advancedCronJobs(f), unitedDeployments(f),
		imagePullJobs(f), nodeImages(f), resourceDistributions(f), workloadSpreads(f), persistentPodStates(f), sidecarSets(f), sidecarSetPolicies(f),
		launchPriorities(), podReadiness(), podProbeMarkers(f), nodePodProbes(f), containerRecreateRequests(f), ephemeralJobs(f), sidecarTerminator(f), podUnavailableBudgets(f), evictionResponder(f), pods(),
		deletionProtection(f),
	}
}

// kind is one kind of objects: the controller that manages them, and the webhook.
type kind struct {
	// name is that of the controller, in metrics, events and user agents. Empty: there is only a webhook.
	name string
	// gate switches the controller, and so does orGate, if there is one. Empty: it always runs.
	gate, orGate featuregate.Feature
	// resource must be served before the controller runs.
	resource schema.GroupVersionResource
	// inCluster says that the controller works in the cluster as a whole also if others work in one namespace.
	inCluster bool
	// beside are resources that are installed together with its own: it waits for them, for a bit.
	beside []schema.GroupVersionResource
	// optional are resources that it can do without, and without is what the log says if one is not served.
	optional []schema.GroupVersionResource
	without  string
	// compose returns the controller, made of its options.
	compose func(context.Context, *parts) (controllers.Composed, error)
	// webhook returns what is served; nil if nothing is. Default nil: nothing.
	webhook func(*admissions) webhook
}

// webhook is a Webhook of the library. Those that ask something of the API server have Rules, too.
type webhook interface {
	Handlers() map[string]http.Handler
}

// parts are what a controller is composed of.
type parts struct {
	*controllers.Own
	caches                  *caches
	namespace, ownNamespace string
	gates                   featuregate.FeatureGate
	webhooks                bool // are served
	served                  map[schema.GroupVersionResource]bool
}

// options say how a controller runs.
func (p *parts) options(workers int) podwright.ControllerOptions {
	return podwright.ControllerOptions{Namespace: p.namespace, Workers: workers, Recorders: p.Recorders, Metrics: reconciles}
}

var (
	cloneSetsResource                 = v1alpha1.SchemeGroupVersion.WithResource("clonesets")
	statefulSetsResource              = v1beta1.SchemeGroupVersion.WithResource("statefulsets")
	daemonSetsResource                = v1alpha1.SchemeGroupVersion.WithResource("daemonsets")
	broadcastJobsResource             = v1alpha1.SchemeGroupVersion.WithResource("broadcastjobs")
	imagePullJobsResource             = distributionv1alpha1.SchemeGroupVersion.WithResource("imagepulljobs")
	sidecarSetsResource               = sidecarv1alpha1.SchemeGroupVersion.WithResource("sidecarsets")
	podsResource                      = corev1.SchemeGroupVersion.WithResource("pods")
	containerRecreateRequestsResource = lifecyclev1alpha1.SchemeGroupVersion.WithResource("containerrecreaterequests")
)

func cloneSets(f *pflag.FlagSet) kind {
	workers := f.Int("cloneset-workers", 3, "CloneSets reconciled at the same time")
	excludePreparingDelete := f.Bool("cloneset-scaling-exclude-preparing-delete", false, "do not count pods that prepare for their deletion as replicas")
	return kind{
		name: "cloneset-controller", resource: cloneSetsResource,
		compose: func(ctx context.Context, p *parts) (controllers.Composed, error) {
			jobs, err := p.imagePullJobs(ctx, features.PreDownloadImageForInPlaceUpdate)
			budget, err2 := p.budget(ctx)
			return controllers.Of(cloneset.Options{
				Kubernetes: p.Kubernetes, Workloads: p.Workloads, ControllerOptions: p.options(*workers),
				CloneSets: p.caches.cloneSets(), Pods: p.caches.pods(), Claims: p.caches.claims(), Revisions: p.caches.revisions(), Nodes: p.caches.nodes(),
				Jobs: jobs, Budget: budget, Placement: p.caches.spreads, Features: cloneset.Features{
					ExcludePreparingDelete: *excludePreparingDelete,
					ShortHash:              p.gates.Enabled(features.CloneSetShortHash),
					PartitionRollback:      p.gates.Enabled(features.CloneSetPartitionRollback),
					NoEnvFromMetadata:      !p.gates.Enabled(features.InPlaceUpdateEnvFromMetadata),
					InPlaceResize:          p.gates.Enabled(features.InPlaceWorkloadVerticalScaling),
					LaunchPriority:         p.gates.Enabled(features.PodWebhook),
					PreDownload:            jobs != nil,
				},
			}, cloneset.New, cloneset.Rules), errors.Join(err, err2)
		},
		webhook: func(a *admissions) webhook {
			return &cloneset.Webhook{
				TemplateNoDefaults:        a.gates.Enabled(features.TemplateNoDefaults),
				DisableDeletionProtection: !a.gates.Enabled(features.ResourcesDeletionProtection),
				InPlaceResize:             a.gates.Enabled(features.InPlaceWorkloadVerticalScaling),
				Pods:                      podGetter(a),
				Templates:                 workloads.DryRun(a.CoreV1()),
			}
		},
	}
}

func statefulSets(f *pflag.FlagSet) kind {
	workers := f.Int("statefulset-workers", 3, "StatefulSets reconciled at the same time")
	return kind{
		name: "statefulset-controller", resource: statefulSetsResource,
		compose: func(ctx context.Context, p *parts) (controllers.Composed, error) {
			jobs, err := p.imagePullJobs(ctx, features.PreDownloadImageForInPlaceUpdate)
			budget, err2 := p.budget(ctx)
			return controllers.Of(statefulset.Options{
				Kubernetes: p.Kubernetes, Workloads: p.Workloads, ControllerOptions: p.options(*workers),
				StatefulSets: p.caches.statefulSets(), Pods: p.caches.pods(), Claims: p.caches.claims(), Revisions: p.caches.revisions(),
				Jobs: jobs, Budget: budget, Placement: workloads.Placements{p.caches.spreads, p.caches.states}, Features: statefulset.Features{
					NoAutoDeleteClaims: !p.gates.Enabled(features.StatefulSetAutoDeletePVC),
					NoEnvFromMetadata:  !p.gates.Enabled(features.InPlaceUpdateEnvFromMetadata),
					InPlaceResize:      p.gates.Enabled(features.InPlaceWorkloadVerticalScaling),
					LaunchPriority:     p.gates.Enabled(features.PodWebhook),
					PreDownload:        jobs != nil,
				},
			}, statefulset.New, statefulset.Rules), errors.Join(err, err2)
		},
		webhook: func(a *admissions) webhook {
			return &statefulset.Webhook{
				TemplateNoDefaults:        a.gates.Enabled(features.TemplateNoDefaults),
				DisableDeletionProtection: !a.gates.Enabled(features.ResourcesDeletionProtection),
				InPlaceResize:             a.gates.Enabled(features.InPlaceWorkloadVerticalScaling),
				Templates:                 workloads.DryRun(a.CoreV1()),
			}
		},
	}
}

func advancedCronJobs(f *pflag.FlagSet) kind {
	workers := f.Int("advancedcronjob-workers", 20, "AdvancedCronJobs reconciled at the same time")
	return kind{
		name: "advancedcronjob-controller", resource: v1alpha1.SchemeGroupVersion.WithResource("advancedcronjobs"),
		beside: these(broadcastJobsResource), optional: these(broadcastJobsResource), without: "No BroadcastJobs are created on schedule",
		compose: func(_ context.Context, p *parts) (controllers.Composed, error) {
			return controllers.Of(cronjob.Options{
				Kubernetes: p.Kubernetes, Workloads: p.Workloads, ControllerOptions: p.options(*workers),
				ScheduleMetrics: schedules, CronJobs: p.caches.advancedCronJobs(), Jobs: p.caches.jobs(),
				BroadcastJobs: p.optional(broadcastJobsResource, p.caches.broadcastJobs), NoBroadcastJobs: !p.served[broadcastJobsResource],
			}, cronjob.New, cronjob.Rules), nil
		},
		webhook: func(a *admissions) webhook {
			return &cronjob.Webhook{TemplateNoDefaults: a.gates.Enabled(features.TemplateNoDefaults)}
		},
	}
}

func imagePullJobs(f *pflag.FlagSet) kind {
	workers := f.Int("imagepulljob-workers", 3, "ImagePullJobs reconciled at the same time")
	referToSource := f.Bool("imagepulljob-refer-to-source-secrets", false,
		"copy no pull secrets of ImagePullJobs to the namespace "+distributionv1alpha1.DaemonConfigNamespace+": agents must be allowed to read them in the namespaces of the jobs")
	return kind{
		name: "imagepulljob-controller", gate: features.KruiseDaemon, resource: imagePullJobsResource,
		optional: these(cloneSetsResource, statefulSetsResource), without: "No images are pulled in the order of these pods", // which the workloads say
		compose: func(_ context.Context, p *parts) (controllers.Composed, error) {
			return controllers.OfNamespace(imagepulljob.Options{
				Kubernetes: p.Kubernetes, Distribution: p.Distribution, ControllerOptions: p.options(*workers),
				ReferToSourceSecrets: *referToSource,
				ImagePullJobs:        p.caches.imagePullJobs(), NodeImages: p.caches.nodeImages(), Pods: p.caches.pods(),
				CloneSets: p.optional(cloneSetsResource, p.caches.cloneSets), StatefulSets: p.optional(statefulSetsResource, p.caches.statefulSets),
			}, imagepulljob.New, imagepulljob.Rules, imagepulljob.NamespaceRules), nil
		},
		webhook: func(a *admissions) webhook {
			return &imagepulljob.Webhook{NoAgents: !a.gates.Enabled(features.KruiseDaemon)}
		},
	}
}

func nodeImages(f *pflag.FlagSet) kind {
	workers := f.Int("nodeimage-workers", 3, "nodes reconciled with their NodeImages at the same time")
	creationDelay := f.Duration("nodeimage-creation-delay", 30*time.Second, "time that a node must have been ready before it gets its NodeImage")
	pauseImage := f.String("nodeimage-pull-pods-image", "",
		"have kubelets pull images in place of agents: by pods that run this image, such as registry.k8s.io/pause:3.10, and mount the image to pull; empty: agents pull")
	responseTimeout := f.Duration("nodeimage-response-timeout", time.Minute,
		"time that an agent may be silent about an image before the pull has failed; agents of OpenKruise 1.4 are silent while they pull")
	return kind{
		name: "nodeimage-controller", gate: features.KruiseDaemon, resource: distributionv1alpha1.SchemeGroupVersion.WithResource("nodeimages"),
		inCluster: true, // nodes hold tasks of jobs of all namespaces
		compose: func(_ context.Context, p *parts) (controllers.Composed, error) {
			o := nodeimage.Options{
				Kubernetes: p.Kubernetes, Distribution: p.Distribution, ControllerOptions: p.options(*workers),
				NodeImages: p.caches.nodeImages(), Nodes: p.caches.nodes(),
				Timing: nodeimage.Timing{CreationDelay: *creationDelay, ResponseTimeout: *responseTimeout},
			}
			if *creationDelay == 0 {
				o.Timing.CreationDelay = -1
			}
			if *pauseImage != "" {
				o.PullPods = &nodeimage.PullPods{PauseImage: *pauseImage}
			}
			if p.namespace == "" {
				o.ImagePullJobs, o.Pods = p.caches.imagePullJobs(), p.caches.pods()
			}
			return controllers.Of(o, nodeimage.New, nodeimage.Rules), nil
		},
		webhook: func(a *admissions) webhook {
			return &nodeimage.Webhook{NoAgents: !a.gates.Enabled(features.KruiseDaemon)}
		},
	}
}

// launchPriorities also start the containers of pods that were made before the gate PodWebhook was turned off, or by hand.
func launchPriorities() kind {
	return kind{
		name: "container-launch-priority-controller", resource: podsResource,
		compose: func(_ context.Context, p *parts) (controllers.Composed, error) {
			return controllers.Of(launchpriority.Options{
				Kubernetes: p.Kubernetes, ControllerOptions: p.options(0), Pods: p.caches.pods(),
			}, launchpriority.New, launchpriority.Rules), nil
		},
	}
}

func podReadiness() kind {
	return kind{
		name: "pod-readiness-controller", resource: podsResource,
		compose: func(_ context.Context, p *parts) (controllers.Composed, error) {
			return controllers.Of(podreadiness.Options{
				Kubernetes: p.Kubernetes, ControllerOptions: p.options(0), Pods: p.caches.pods(),
			}, podreadiness.New, podreadiness.Rules), nil
		},
	}
}

func containerRecreateRequests(f *pflag.FlagSet) kind {
	workers := f.Int("crr-workers", 3, "ContainerRecreateRequests reconciled at the same time")
	return kind{
		name: "containerrecreaterequest-controller", gate: features.KruiseDaemon,
		resource: containerRecreateRequestsResource,
		compose: func(_ context.Context, p *parts) (controllers.Composed, error) {
			return controllers.Of(recreate.Options{
				Kubernetes: p.Kubernetes, Lifecycle: p.Lifecycle, ControllerOptions: p.options(*workers),
				Requests: p.caches.containerRecreateRequests(), Pods: p.caches.pods(),
			}, recreate.New, recreate.Rules), nil
		},
		webhook: func(a *admissions) webhook {
			return &recreate.Webhook{Pods: podGetter(a), Disabled: !a.gates.Enabled(features.KruiseDaemon)}
		},
	}
}

func sidecarTerminator(f *pflag.FlagSet) kind {
	workers := f.Int("sidecarterminator-workers", 3, "pods reconciled at the same time whose sidecars are to be terminated")
	return kind{
		name: sidecarv1alpha1.SidecarTerminatorEventSource, gate: features.SidecarTerminator, resource: containerRecreateRequestsResource,
		compose: func(_ context.Context, p *parts) (controllers.Composed, error) {
			return controllers.Of(terminator.Options{
				Kubernetes: p.Kubernetes, Lifecycle: p.Lifecycle, ControllerOptions: p.options(*workers), PodMetrics: terminations,
				Pods: p.caches.pods(), Nodes: p.caches.nodes(), Requests: p.caches.containerRecreateRequests(),
			}, terminator.New, terminator.Rules), nil
		},
	}
}

// pods are given what several of the kinds above need; see newAdmissions for what that is.
func pods() kind {
	return kind{webhook: func(a *admissions) webhook {
		if !a.gates.Enabled(features.PodWebhook) {
			return nil
		}
		return &a.pods
	}}
}

// podGetter asks for pods one by one: they matter only to the rare change of podsToDelete and to new
// ContainerRecreateRequests, which need the newest state, so replicas that do not lead keep no cache of pods.
func podGetter(k kubernetes.Interface) func(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	return func(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
		return k.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	}
}

// imagePullJobs returns what pulls images ahead of an update; the workloads all ask for the same methods. It
// returns nil if the gate is off or ImagePullJobs are not served: that must not keep workloads from working.
func (p *parts) imagePullJobs(ctx context.Context, gate featuregate.Feature) (workloads.ImagePullJobs, error) {
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
