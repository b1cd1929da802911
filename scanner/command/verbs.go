package command

import (
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// Verbs of command line tools. A verb stands alone, or first in a word: delete-bucket.
var (
	verbsDelete = text.Words(`delete del destroy remove rm purge drop terminate wipe erase nuke uninstall unregister prune forget flushall flushdb flush
		deregister deprovision rdelete obliterate expunge zap rb unsubscribe disassociate detach truncate rmi rmdir recreate undeploy undefine unpublish
		deletefile mirror overwrite zeroize deletemany schedule-key-deletion nuke-all cleanup decommission`)
	verbsStop = text.Words(`stop restart reboot shutdown halt poweroff power-off reset deallocate suspend kill drain failover evict terminate
		disable revoke scale-down force-stop pause quit rollback cancel hibernate undo down disconnect off`)
	verbsRead = text.Words(`list ls get describe show status info version help search logs whoami diff plan validate view inspect top history
		ping health explain tree stats metrics lsd lsl lsf lsjson events count ps images port snapshots`)
	// deletingOptions are the first words of options that delete.
	deletingOptions = text.Words("delete remove purge prune destroy wipe erase")
	// dryRuns are options with which a tool only tells what it would do.
	dryRuns = text.Words("--dry-run --dryrun --dry-run=client --dry-run=server --what-if --whatif -whatif --simulate --just-print --no-act --pretend --list-only --dry_run --check-only --preview --noop")
	// tools are those that change something unless a verb says more.
	tools = text.Words(`aws az gcloud gh glab heroku fly flyctl vercel netlify doctl linode-cli oci ibmcloud openstack nova terraform tofu terragrunt
		pulumi helm oc virsh vboxmanage qm pct lxc incus vagrant packer consul vault nomad etcdctl rabbitmqctl rabbitmqadmin rabbitmq-diagnostics
		kafka-topics kafka-topics.sh kafka-consumer-groups kafka-acls kafka-configs nats rclone restic borg borgmatic velero op doppler circleci gitlab-runner
		npm pnpm yarn pip pip3 pipx cargo gem brew snap flatpak apt dnf yum zypper pacman apk conda poetry uv composer nix kops eksctl argocd flux istioctl
		linkerd cilium calicoctl ceph gluster multipass minikube kind k3d docker-compose nmcli firewall-cmd timedatectl hostnamectl localectl
		loginctl resolvectl networkctl bluetoothctl udevadm lvm vgs lvs pvs btrfs xfs_admin rbd s3cmd mc b2 wrangler firebase supabase
		railway render scw hcloud exo civo dapr waypoint boundary step cmctl kubectx kubens kustomize skaffold tilt gsutil bq cbt
		redis-cli nodetool influx clickhouse mongocli atlas rke rancher flarectl salt-key puppet chef knife juju pm2 supervisorctl monit
		circus svcadm launchctl rc-service update-rc.d chkconfig efibootmgr bootctl journalctl mokutil tpm2 fwupdmgr conjur infisical
		chezmoi jira slcli travis buildkite-agent drone tkn cosign crane skopeo regctl oras trivy grype`)
)

// maxVerb is how many words a tool's verb may stand behind.
const maxVerb = 5

// judgeVerbs judges a tool by the first verb among its words. A verb that reads, or an option with which
// it only tells what it would do, proves nothing: the grammar of the tool has to.
func judgeVerbs(name string, args call) verdict {
	none := unknown("the command " + name + " is not known")
	known := tools.HasFoldString(name)
	if prose(args) || sqlKeywords.HasFoldString(name) {
		return none
	}
	for _, a := range args {
		if dryRuns.HasFoldString(a.text) {
			return none
		}
	}
	for _, a := range args {
		flag := strings.TrimLeft(a.text, "-")
		if head, _, _ := strings.Cut(flag, "-"); strings.HasPrefix(a.text, "--") && deletingOptions.HasFoldString(head) && !strings.Contains(flag, "=") {
			return dangerous(Erase, name+" "+a.text+" deletes")
		}
	}
	if name == "rclone" && text.Lists("sync move moveto dedupe", strings.ToLower(args.first())) {
		return dangerous(Erase, "rclone deletes files")
	}
	seen := 0
	for i, a := range args {
		if strings.HasPrefix(a.text, "-") || strings.ContainsAny(a.text, "/.=@") || !known && i > 0 && strings.HasPrefix(args[i-1].text, "-") && !strings.Contains(args[i-1].text, "=") && seen == 0 && len(args[i-1].text) == 2 {
			continue
		}
		if seen++; seen > maxVerb {
			break
		}
		for _, verb := range heads(a.text) {
			switch {
			case verbsDelete.HasFoldString(verb):
				return dangerous(Erase, name+" "+a.text+" deletes")
			case known && verbsStop.HasFoldString(verb):
				return dangerous(CriticalProcess, name+" "+a.text+" stops or resets")
			case known && verbsRead.HasFoldString(verb):
				return none
			}
		}
	}
	if known {
		return mutate(name + " changes something")
	}
	return none
}

// heads returns what of a word may be a verb: the word, its first part, and in secrets:delete the last.
func heads(word string) []string {
	list := []string{word}
	for tail := word; ; {
		i := strings.IndexAny(tail, "-_")
		if i <= 0 {
			break
		}
		list = append(list, tail[:i])
		if !strings.HasPrefix(tail, "repo-") && !strings.HasPrefix(tail, "batch-") {
			break
		}
		tail = tail[i+1:]
		list = append(list, tail)
	}
	if i := strings.LastIndexByte(word, ':'); i > 0 {
		list = append(list, word[i+1:])
	}
	return list
}

// fillers are words that sentences have and commands have not.
var fillers = text.Words("the an how do is are was of my your our this that please from")

// prose reports whether words are a sentence.
func prose(args call) bool {
	for _, a := range args {
		if fillers.HasFoldString(a.text) {
			return true
		}
	}
	return false
}

// verb returns the place of the first word that is no option of the tool, -1 without one.
func (c call) verb(name string) int {
	const values = "-H --host -c --context --config -l --log-level -n --namespace --kubeconfig --cluster --user --as -s --server --project --profile --region -C --git-dir --work-tree -f --file -p --project-name --request-timeout --token"
	for i := 0; i < len(c); i++ {
		switch {
		case text.Lists(values, c[i].text):
			i++
		case !strings.HasPrefix(c[i].text, "-"):
			return i
		}
	}
	return -1
}
