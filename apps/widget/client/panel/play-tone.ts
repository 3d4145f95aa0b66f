/** Plays a short tone. A browser that does not allow it stays silent. */
export function playTone(): void {
  const audio = new AudioContext();
  const tone = audio.createOscillator();
  const volume = audio.createGain();
  volume.gain.value = 0.05;
  tone.connect(volume).connect(audio.destination);
  // Closing rejects only where it is closed already.
  tone.onended = () => void audio.close();
  tone.start();
  tone.stop(0.2);
}
