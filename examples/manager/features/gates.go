package features

// Gate names one switch of --feature-gates.
type Gate string

// The gates, by the names they have on the command line.
const (
	PodWebhook                                Gate = "PodWebhook"
	KruiseDaemon                              Gate = "KruiseDaemon"
	DaemonWatchingPod                         Gate = "DaemonWatchingPod"
	CloneSetShortHash                         Gate = "CloneSetShortHash"
	KruisePodReadinessGate                    Gate = "KruisePodReadinessGate"
	PreDownloadImageForInPlaceUpdate          Gate = "PreDownloadImageForInPlaceUpdate"
	PreDownloadImageForDaemonSetUpdate        Gate = "PreDownloadImageForDaemonSetUpdate"
	CloneSetPartitionRollback                 Gate = "CloneSetPartitionRollback"
	ResourcesDeletionProtection               Gate = "ResourcesDeletionProtection"
	WorkloadSpread                            Gate = "WorkloadSpread"
	PodUnavailableBudgetDeleteGate            Gate = "PodUnavailableBudgetDeleteGate"
	PodUnavailableBudgetUpdateGate            Gate = "PodUnavailableBudgetUpdateGate"
	TemplateNoDefaults                        Gate = "TemplateNoDefaults"
	InPlaceUpdateEnvFromMetadata              Gate = "InPlaceUpdateEnvFromMetadata"
	StatefulSetAutoDeletePVC                  Gate = "StatefulSetAutoDeletePVC"
	SidecarSetPatchPodMetadataDefaultsAllowed Gate = "SidecarSetPatchPodMetadataDefaultsAllowed"
	SidecarTerminator                         Gate = "SidecarTerminator"
	PodProbeMarkerGate                        Gate = "PodProbeMarkerGate"
	CloneSetEventHandlerOptimization          Gate = "CloneSetEventHandlerOptimization"
)

// The names that set every gate of a stage which is not named itself.
const (
	allAlpha Gate = "AllAlpha"
	allBeta  Gate = "AllBeta"
)

// fact is what is known of a gate.
type fact struct {
	enabled bool // by default
	stage   Gate // allAlpha or allBeta
	// wired tells that this manager does what the gate says. The others switch
	// parts that it does not run yet.
	wired bool
}

// known returns all gates. Several are enabled and alpha at the same time: that
// is how AllAlpha=false turns them off.
func known() map[Gate]fact {
	return map[Gate]fact{
		PodWebhook:                                {enabled: true, stage: allBeta, wired: true},
		KruiseDaemon:                              {enabled: true, stage: allBeta, wired: true},
		DaemonWatchingPod:                         {enabled: true, stage: allBeta},
		CloneSetShortHash:                         {stage: allAlpha, wired: true},
		KruisePodReadinessGate:                    {stage: allAlpha, wired: true},
		PreDownloadImageForInPlaceUpdate:          {stage: allAlpha, wired: true},
		PreDownloadImageForDaemonSetUpdate:        {stage: allAlpha},
		CloneSetPartitionRollback:                 {stage: allAlpha, wired: true},
		ResourcesDeletionProtection:               {enabled: true, stage: allAlpha, wired: true},
		WorkloadSpread:                            {enabled: true, stage: allAlpha},
		PodUnavailableBudgetDeleteGate:            {enabled: true, stage: allAlpha},
		PodUnavailableBudgetUpdateGate:            {stage: allAlpha},
		TemplateNoDefaults:                        {stage: allAlpha, wired: true},
		InPlaceUpdateEnvFromMetadata:              {enabled: true, stage: allAlpha, wired: true},
		StatefulSetAutoDeletePVC:                  {enabled: true, stage: allAlpha, wired: true},
		SidecarSetPatchPodMetadataDefaultsAllowed: {stage: allAlpha},
		SidecarTerminator:                         {stage: allAlpha},
		PodProbeMarkerGate:                        {enabled: true, stage: allAlpha},
		CloneSetEventHandlerOptimization:          {stage: allAlpha},
	}
}

// coupled returns, for a gate, those that make no sense without it.
func coupled() map[Gate][]Gate {
	return map[Gate][]Gate{
		PodWebhook: {
			KruisePodReadinessGate, ResourcesDeletionProtection, PodUnavailableBudgetDeleteGate,
			PodUnavailableBudgetUpdateGate, WorkloadSpread, SidecarSetPatchPodMetadataDefaultsAllowed,
		},
		KruiseDaemon: {
			PreDownloadImageForInPlaceUpdate, PreDownloadImageForDaemonSetUpdate, DaemonWatchingPod,
			InPlaceUpdateEnvFromMetadata, PodProbeMarkerGate, SidecarTerminator,
		},
	}
}
