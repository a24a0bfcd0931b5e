// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"context"
	"errors"
	"net/http"
	"time"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	availability "github.com/podwright/podwright/availability/client"
	"github.com/podwright/podwright/availability/evictionresponder"
	"github.com/podwright/podwright/availability/podunavailablebudget"
	distribution "github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/image/imagelistpulljob"
	"github.com/podwright/podwright/distribution/image/imagepulljob"
	"github.com/podwright/podwright/distribution/image/nodeimage"
	"github.com/podwright/podwright/distribution/persistentpodstate"
	"github.com/podwright/podwright/distribution/resource"
	"github.com/podwright/podwright/distribution/workloadspread"
	lifecycle "github.com/podwright/podwright/lifecycle/client"
	"github.com/podwright/podwright/lifecycle/ephemeraljob"
	"github.com/podwright/podwright/lifecycle/launchpriority"
	"github.com/podwright/podwright/lifecycle/podreadiness"
	"github.com/podwright/podwright/lifecycle/probe/nodepodprobe"
	"github.com/podwright/podwright/lifecycle/probe/podprobemarker"
	"github.com/podwright/podwright/lifecycle/recreate"
	sidecar "github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/policies"
	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/sidecar/terminator"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/broadcastjob"
	workloadsclient "github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/cronjob"
	"github.com/podwright/podwright/workloads/daemonset"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/uniteddeployment"
)

// account is what a kind works with: clients that have its rights.
type account struct {
	all          podwright.ControllerOptions
	kube         kubernetes.Interface
	dynamic      dynamic.Interface
	workloads    workloadsclient.Interface
	sidecar      sidecar.Interface
	availability availability.Interface
	distribution distribution.Interface
	lifecycle    lifecycle.Interface
	evictions    *evictionresponder.Client
	// beside runs beside the controller, on the same rights.
	beside []func(context.Context) error
	failed error
}

func newAccount(config *rest.Config) (a *account, err error) {
	a = &account{}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: transport}
	var errs [8]error
	a.kube, errs[0] = kubernetes.NewForConfigAndClient(config, client)
	a.workloads, errs[1] = workloadsclient.NewForConfigAndClient(config, client)
	a.sidecar, errs[2] = sidecar.NewForConfigAndClient(config, client)
	a.availability, errs[3] = availability.NewForConfigAndClient(config, client)
	a.distribution, errs[4] = distribution.NewForConfigAndClient(config, client)
	a.lifecycle, errs[5] = lifecycle.NewForConfigAndClient(config, client)
	a.evictions, errs[6] = evictionresponder.NewClient(config, client)
	a.dynamic, errs[7] = dynamic.NewForConfigAndClient(config, client)
	return a, errors.Join(errs[:]...)
}

// runs has an informer run beside the controller.
func (a *account) runs(informer cache.SharedIndexInformer) {
	a.beside = append(a.beside, func(ctx context.Context) error {
		informer.RunWithContext(ctx)
		return nil
	})
}

// guard returns what workloads ask before they update.
func (a *account) guard() *podunavailablebudget.Guard {
	budgets := availability.NewPodUnavailableBudgetInformer(a.availability, "", 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	a.runs(budgets)
	guard, err := podunavailablebudget.NewGuard(podunavailablebudget.GuardOptions{
		Availability: a.availability, Budgets: availability.NewPodUnavailableBudgetLister(budgets.GetIndexer())})
	a.failed = errors.Join(a.failed, err)
	return guard
}

// jobs returns what pulls images ahead.
func (a *account) jobs() workloads.ImagePullJobs {
	informer := distribution.NewImagePullJobInformer(a.distribution, "", 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	jobs, err := workloads.NewImagePullJobs(a.distribution, informer)
	a.runs(informer)
	a.failed = errors.Join(a.failed, err)
	return jobs
}

// placement returns what gives pods their places.
func (a *account) placement() workloads.Placement {
	spreads, err := workloadspread.NewPlacer(workloadspread.Options{Kubernetes: a.kube, Distribution: a.distribution, Workloads: a.workloads})
	states, err2 := persistentpodstate.NewPlacer(persistentpodstate.PlacerOptions{Kubernetes: a.kube, Distribution: a.distribution})
	if a.failed = errors.Join(a.failed, err, err2); a.failed != nil {
		return nil
	}
	a.beside = append(a.beside, spreads.Run, states.Run)
	return workloads.Placements{spreads, states}
}

func (a *account) storageClass(ctx context.Context, name string) (*storagev1.StorageClass, error) {
	return a.kube.StorageV1().StorageClasses().Get(ctx, name, metav1.GetOptions{})
}

// describe returns every kind that has a controller, by the name of that, with all options that take rights.
var describe = map[string]func(*account) podwright.Kind{
	"cloneset-controller": func(a *account) podwright.Kind {
		return cloneset.Describe(cloneset.Options{ControllerOptions: a.all, Kubernetes: a.kube, Workloads: a.workloads,
			Jobs: a.jobs(), Budget: a.guard(), Placement: a.placement(),
			Features: cloneset.Features{InPlaceResize: true, PreDownload: true, LaunchPriority: true, ClaimTemplateHash: true, RecreateForClaims: true}}, nil)
	},
	"statefulset-controller": func(a *account) podwright.Kind {
		return statefulset.Describe(statefulset.Options{ControllerOptions: a.all, Kubernetes: a.kube, Workloads: a.workloads,
			Jobs: a.jobs(), Budget: a.guard(), Placement: a.placement(), StorageClass: a.storageClass,
			Features: statefulset.Features{InPlaceResize: true, PreDownload: true, LaunchPriority: true, ResizeClaims: true, SpecifiedDelete: true}}, nil)
	},
	"daemonset-controller": func(a *account) podwright.Kind {
		return daemonset.Describe(daemonset.Options{ControllerOptions: a.all, Kubernetes: a.kube, Workloads: a.workloads,
			Jobs: a.jobs(), Budget: a.guard(), Features: daemonset.Features{InPlaceResize: true, PreDownload: true}}, nil)
	},
	"uniteddeployment-controller": func(a *account) podwright.Kind {
		return uniteddeployment.Describe(uniteddeployment.Options{ControllerOptions: a.all, Kubernetes: a.kube, Workloads: a.workloads,
			Features: uniteddeployment.Features{AdaptiveScheduling: true, UpdatedCondition: true, ReservedLabels: true}}, nil)
	},
	"broadcastjob-controller": func(a *account) podwright.Kind {
		return broadcastjob.Describe(broadcastjob.Options{ControllerOptions: a.all, Kubernetes: a.kube, Workloads: a.workloads}, nil)
	},
	"advancedcronjob-controller": func(a *account) podwright.Kind {
		return cronjob.Describe(cronjob.Options{ControllerOptions: a.all, Kubernetes: a.kube, Workloads: a.workloads, Distribution: a.distribution}, nil)
	},
	"sidecarset-controller": func(a *account) podwright.Kind {
		return sidecarset.Describe(sidecarset.Options{ControllerOptions: a.all, Kubernetes: a.kube, Sidecar: a.sidecar, Policies: true, Budget: a.guard()}, nil)
	},
	"sidecarset-policy-controller": func(a *account) podwright.Kind {
		return policies.Describe(policies.Options{ControllerOptions: a.all, Kubernetes: a.kube, Sidecar: a.sidecar})
	},
	"sidecarterminator-controller": func(a *account) podwright.Kind {
		return terminator.Describe(terminator.Options{ControllerOptions: a.all, Kubernetes: a.kube, Lifecycle: a.lifecycle})
	},
	"podunavailablebudget-controller": func(a *account) podwright.Kind {
		return podunavailablebudget.Describe(podunavailablebudget.Options{ControllerOptions: a.all, Kubernetes: a.kube, Availability: a.availability,
			Workloads: a.workloads, Mirror: podunavailablebudget.MirrorAnnotated}, nil)
	},
	"eviction-responder": func(a *account) podwright.Kind {
		return evictionresponder.Describe(evictionresponder.Options{ControllerOptions: a.all, Kubernetes: a.kube, EvictionClient: a.evictions, Workloads: a.workloads})
	},
	"workloadspread-controller": func(a *account) podwright.Kind {
		return workloadspread.Describe(workloadspread.Options{ControllerOptions: a.all, Kubernetes: a.kube, Distribution: a.distribution, Workloads: a.workloads}, nil)
	},
	"persistentpodstate-controller": func(a *account) podwright.Kind {
		return persistentpodstate.Describe(persistentpodstate.Options{ControllerOptions: a.all, Kubernetes: a.kube, Distribution: a.distribution,
			Workloads: a.workloads, Dynamic: a.dynamic}, nil)
	},
	"resourcedistribution-controller": func(a *account) podwright.Kind {
		return resource.Describe(resource.Options{ControllerOptions: a.all, Kubernetes: a.kube, Distribution: a.distribution,
			Features: resource.Features{Sources: true}}, nil)
	},
	"imagepulljob-controller": func(a *account) podwright.Kind {
		return imagepulljob.Describe(imagepulljob.Options{ControllerOptions: a.all, Kubernetes: a.kube, Distribution: a.distribution, Workloads: a.workloads}, nil)
	},
	"imagelistpulljob-controller": func(a *account) podwright.Kind {
		return imagelistpulljob.Describe(imagelistpulljob.Options{ControllerOptions: a.all, Distribution: a.distribution}, nil)
	},
	"nodeimage-controller": func(a *account) podwright.Kind {
		return nodeimage.Describe(nodeimage.Options{ControllerOptions: a.all, Kubernetes: a.kube, Distribution: a.distribution,
			PullPods: &nodeimage.PullPods{PauseImage: "registry.k8s.io/pause:3.10"}, Timing: nodeimage.Timing{CreationDelay: -time.Second}}, nil)
	},
	"nodepodprobe-controller": func(a *account) podwright.Kind {
		return nodepodprobe.Describe(nodepodprobe.Options{ControllerOptions: a.all, Kubernetes: a.kube, Lifecycle: a.lifecycle})
	},
	"podprobemarker-controller": func(a *account) podwright.Kind {
		return podprobemarker.Describe(podprobemarker.Options{ControllerOptions: a.all, Kubernetes: a.kube, Lifecycle: a.lifecycle}, nil)
	},
	"containerrecreaterequest-controller": func(a *account) podwright.Kind {
		return recreate.Describe(recreate.Options{ControllerOptions: a.all, Kubernetes: a.kube, Lifecycle: a.lifecycle}, nil)
	},
	"ephemeraljob-controller": func(a *account) podwright.Kind {
		return ephemeraljob.Describe(ephemeraljob.Options{ControllerOptions: a.all, Kubernetes: a.kube, Lifecycle: a.lifecycle})
	},
	"pod-readiness-controller": func(a *account) podwright.Kind {
		return podreadiness.Describe(podreadiness.Options{ControllerOptions: a.all, Kubernetes: a.kube})
	},
	"container-launch-priority-controller": func(a *account) podwright.Kind {
		return launchpriority.Describe(launchpriority.Options{ControllerOptions: a.all, Kubernetes: a.kube,
			Features: launchpriority.Features{KeyBeforeReport: true, MarkCompleted: true}})
	},
}
