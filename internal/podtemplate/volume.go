// SPDX-License-Identifier: Apache-2.0

package podtemplate

import corev1 "k8s.io/api/core/v1"

// fileMode is the default mode of files that come from the API: rw-r--r--.
const fileMode = int32(0o644)

func defaultVolume(v *corev1.Volume) {
	if v.VolumeSource == (corev1.VolumeSource{}) {
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
		return
	}
	defaultFileVolume(&v.VolumeSource)
	defaultDiskVolume(&v.VolumeSource)
}

// defaultFileVolume handles volumes whose files come from the API or the node.
func defaultFileVolume(v *corev1.VolumeSource) {
	if v.HostPath != nil {
		setPtr(&v.HostPath.Type, corev1.HostPathUnset)
	}
	if v.Secret != nil {
		setPtr(&v.Secret.DefaultMode, fileMode)
	}
	if v.ConfigMap != nil {
		setPtr(&v.ConfigMap.DefaultMode, fileMode)
	}
	if v.DownwardAPI != nil {
		setPtr(&v.DownwardAPI.DefaultMode, fileMode)
		defaultDownwardItems(v.DownwardAPI.Items)
	}
	if v.Projected != nil {
		setPtr(&v.Projected.DefaultMode, fileMode)
		for i := range v.Projected.Sources {
			defaultProjection(&v.Projected.Sources[i])
		}
	}
}

// defaultDiskVolume handles volumes that are disks.
func defaultDiskVolume(v *corev1.VolumeSource) {
	if v.ISCSI != nil {
		set(&v.ISCSI.ISCSIInterface, "default")
	}
	if v.RBD != nil {
		set(&v.RBD.RBDPool, "rbd")
		set(&v.RBD.RadosUser, "admin")
		set(&v.RBD.Keyring, "/etc/ceph/keyring")
	}
	if v.AzureDisk != nil {
		setPtr(&v.AzureDisk.CachingMode, corev1.AzureDataDiskCachingReadWrite)
		setPtr(&v.AzureDisk.FSType, "ext4")
		setPtr(&v.AzureDisk.ReadOnly, false)
		setPtr(&v.AzureDisk.Kind, corev1.AzureSharedBlobDisk)
	}
	if v.ScaleIO != nil {
		set(&v.ScaleIO.StorageMode, "ThinProvisioned")
		set(&v.ScaleIO.FSType, "xfs")
	}
	if v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil {
		defaultClaimSpec(&v.Ephemeral.VolumeClaimTemplate.Spec)
	}
}

func defaultProjection(p *corev1.VolumeProjection) {
	if p.DownwardAPI != nil {
		defaultDownwardItems(p.DownwardAPI.Items)
	}
	if p.ServiceAccountToken != nil {
		setPtr(&p.ServiceAccountToken.ExpirationSeconds, 60*60)
	}
}

func defaultDownwardItems(items []corev1.DownwardAPIVolumeFile) {
	for i := range items {
		defaultFieldRef(items[i].FieldRef)
	}
}
