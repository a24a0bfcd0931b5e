// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

// Features switches what differs between installations.
type Features struct {
	// Serverless says that what runs the pods of virtual nodes probes them by their annotations, see podprobemarker.Injector, and writes
	// the conditions. Then labels and annotations follow these, and virtual nodes have no probes in NodePodProbes. Default false: pods
	// of virtual nodes are probed by an agent if there is one, else by none. OpenKruise: gate EnablePodProbeMarkerOnServerless. (PPM-3.9)
	Serverless bool
}
